#include "crisp/train/adamw.h"

#include "crisp/base/error.h"

namespace crisp::train {

void freeze(torch::nn::Module& module) {
  for (torch::Tensor& parameter : module.parameters()) parameter.set_requires_grad(false);
}

ParameterGroup group_of(const std::string& name, const torch::nn::Module& module, const std::string& prefix,
                        double rate, double weight_decay) {
  ParameterGroup group{.name = name, .parameters = {}, .rate = rate, .weight_decay = weight_decay};
  for (const auto& item : module.named_parameters()) {
    if (item.value().requires_grad()) group.parameters.emplace_back(prefix + item.key(), item.value());
  }
  return group;
}

AdamW::AdamW(const std::vector<ParameterGroup>& groups, double beta1, double beta2, double eps)
    : beta1_(beta1), beta2_(beta2), eps_(eps) {
  for (const ParameterGroup& group : groups) {
    Group decayed{group.rate, group.weight_decay, {}}, plain{group.rate, 0, {}};
    for (const auto& [name, parameter] : group.parameters) {
      Slot slot{name, parameter, torch::zeros_like(parameter.detach()), torch::zeros_like(parameter.detach()),
                torch::zeros({}, parameter.options().dtype(torch::kFloat).requires_grad(false))};
      (parameter.dim() > 1 ? decayed : plain).slots.push_back(std::move(slot));
    }
    for (Group* part : {&decayed, &plain}) {
      if (!part->slots.empty()) groups_.push_back(std::move(*part));
    }
  }
  if (groups_.empty()) throw Error("nothing to train: every parameter is frozen");
}

std::vector<torch::Tensor> AdamW::gradients() const {
  std::vector<torch::Tensor> all;
  for (const Group& group : groups_) {
    for (const Slot& slot : group.slots) {
      if (slot.parameter.grad().defined()) all.push_back(slot.parameter.grad());
    }
  }
  return all;
}

torch::Tensor AdamW::clip(double most, const torch::Tensor& inverse_scale) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> all = gradients();
  if (all.empty()) return torch::zeros({}, groups_[0].slots[0].count.options());
  if (inverse_scale.defined()) at::_foreach_mul_(all, inverse_scale);
  const torch::Tensor norm = torch::stack(at::_foreach_norm(all, 2)).norm();
  if (most > 0) at::_foreach_mul_(all, (most / (norm + 1e-6)).clamp_max(1.0));
  return norm;
}

void AdamW::step(double rate_factor, const torch::Tensor& skip) {
  const torch::NoGradGuard no_grad;
  for (const Group& group : groups_) {
    std::vector<torch::Tensor> parameters, gradients, means, squares, counts;
    for (const Slot& slot : group.slots) {
      if (!slot.parameter.grad().defined()) continue;
      parameters.push_back(slot.parameter);
      gradients.push_back(slot.parameter.grad());
      means.push_back(slot.mean);
      squares.push_back(slot.square);
      counts.push_back(slot.count);
    }
    if (parameters.empty()) continue;
    at::_foreach_add_(counts, 1);
    at::_fused_adamw_(parameters, gradients, means, squares, /*max_exp_avg_sqs=*/{}, counts, group.rate * rate_factor,
                      beta1_, beta2_, group.weight_decay, eps_, /*amsgrad=*/false, /*maximize=*/false,
                      /*grad_scale=*/{}, skip);
    at::_foreach_sub_(counts, std::vector<torch::Tensor>(counts.size(), skip));  // a skipped step was none
  }
}

void AdamW::zero_grad() {
  for (Group& group : groups_) {
    for (Slot& slot : group.slots) slot.parameter.mutable_grad().reset();
  }
}

tensor::StateDict AdamW::state() const {
  tensor::StateDict state;
  for (const Group& group : groups_) {
    for (const Slot& slot : group.slots) {
      state["mean." + slot.name] = slot.mean;
      state["square." + slot.name] = slot.square;
      state["count." + slot.name] = slot.count;
    }
  }
  return state;
}

void AdamW::load(const tensor::StateDict& saved, const std::string& source) {
  const torch::NoGradGuard no_grad;
  tensor::StateDict mine = state();
  for (auto& [name, tensor] : mine) {
    const auto found = saved.find(name);
    if (found == saved.end()) throw Error("{}: the optimizer's {} is missing", source, name);
    if (found->second.sizes() != tensor.sizes()) {
      throw Error("{}: the optimizer's {} has shape {}, but {} is needed", source, name,
                  tensor::shape_text(found->second.sizes()), tensor::shape_text(tensor.sizes()));
    }
    tensor.copy_(found->second);
  }
}

}  // namespace crisp::train
