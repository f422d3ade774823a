#include "crisp/tensor/seldom_sizes.h"

#include <map>
#include <mutex>

namespace crisp::tensor {
namespace {

constexpr int kOften = 64;  // passes of some ten milliseconds saved each, for a second of planning

bool comes_often(const torch::Tensor& input) {
  static std::mutex mutex;
  static std::map<std::vector<int64_t>, int> times;
  const std::scoped_lock lock(mutex);
  return ++times[input.sizes().vec()] > kOften;
}

}  // namespace

SeldomSizes::SeldomSizes(const torch::Tensor& input) : before_(at::globalContext().userEnabledCuDNN()) {
  if (input.is_cuda() && !comes_often(input)) at::globalContext().setUserEnabledCuDNN(false);
}

SeldomSizes::~SeldomSizes() { at::globalContext().setUserEnabledCuDNN(before_); }

}  // namespace crisp::tensor
