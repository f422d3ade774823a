#include "crisp/train/ema.h"

#include <algorithm>

#include "crisp/tensor/state_dict.h"

namespace crisp::train {

Ema::Ema(const torch::nn::Module& student, const torch::nn::Module& teacher, double decay) : decay_(decay) {
  const tensor::StateDict from = tensor::state_of(student), to = tensor::state_of(teacher);
  for (const auto& [name, tensor] : from) {
    const bool real = tensor.is_floating_point();
    (real ? student_ : student_counts_).push_back(tensor.detach());
    (real ? teacher_ : teacher_counts_).push_back(to.at(name).detach());
  }
}

double Ema::decay_at(int64_t number, double most) { return std::min(1 - 1 / (static_cast<double>(number) + 1), most); }

void Ema::update(int64_t number, const torch::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> way = at::_foreach_sub(student_, teacher_);
  at::_foreach_mul_(way, (1 - skip) * (1 - decay_at(number, decay_)));  // by 0: the host does not wait to know
  at::_foreach_add_(teacher_, way);
  if (!teacher_counts_.empty()) at::_foreach_copy_(teacher_counts_, student_counts_);
}

void Ema::copy() {
  const torch::NoGradGuard no_grad;
  at::_foreach_copy_(teacher_, student_);
  if (!teacher_counts_.empty()) at::_foreach_copy_(teacher_counts_, student_counts_);
}

}  // namespace crisp::train
