#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// Mixed precision while it lives: matrix products and convolutions run in `dtype`, what needs range stays f32. For
// f32 it does nothing.
class Autocast {
 public:
  Autocast(torch::Device device, torch::ScalarType dtype);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  const c10::DeviceType device_;
  const bool active_;
  bool enabled_before_ = false;
  torch::ScalarType dtype_before_ = torch::kFloat;
};

// None while it lives: for what chooses its own types.
class NoAutocast {
 public:
  explicit NoAutocast(torch::Device device);
  ~NoAutocast();
  NoAutocast(const NoAutocast&) = delete;
  NoAutocast& operator=(const NoAutocast&) = delete;

 private:
  const c10::DeviceType device_;
  const bool enabled_before_;
};

}  // namespace crisp::tensor
