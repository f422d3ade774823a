#include "crisp/tensor/autocast.h"

#include <ATen/autocast_mode.h>

namespace crisp::tensor {

Autocast::Autocast(torch::Device device, torch::ScalarType dtype)
    : device_(device.type()), active_(dtype != torch::kFloat) {
  if (!active_) return;
  enabled_before_ = at::autocast::is_autocast_enabled(device_);
  dtype_before_ = at::autocast::get_autocast_dtype(device_);
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, dtype);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!active_) return;
  // Weights cast for this pass must not outlive it: the next step has others.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(device_, enabled_before_);
  at::autocast::set_autocast_dtype(device_, dtype_before_);
}

NoAutocast::NoAutocast(torch::Device device)
    : device_(device.type()), enabled_before_(at::autocast::is_autocast_enabled(device_)) {
  at::autocast::set_autocast_enabled(device_, false);
}

NoAutocast::~NoAutocast() { at::autocast::set_autocast_enabled(device_, enabled_before_); }

}  // namespace crisp::tensor
