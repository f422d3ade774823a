#pragma once

#include <string>
#include <vector>

#include "crisp/tensor/state_dict.h"

namespace crisp::train {

// Parameters that share a learning rate.
struct ParameterGroup {
  std::string name;
  std::vector<std::pair<std::string, torch::Tensor>> parameters;
  double rate = 1e-4;
  double weight_decay = 0.01;  // of weights; norms, biases and other vectors never decay
};

// Nothing of it learns any more; group_of leaves it out.
void freeze(torch::nn::Module& module);

// The parameters of a module that are trained, each name with `prefix` before it.
ParameterGroup group_of(const std::string& name, const torch::nn::Module& module, const std::string& prefix,
                        double rate, double weight_decay);

// AdamW (Loshchilov and Hutter, 2019) with torch's fused kernel: one pass over memory a step, and no wait for the
// GPU. A parameter without a gradient in a step is left alone.
class AdamW {
 public:
  explicit AdamW(const std::vector<ParameterGroup>& groups, double beta1 = 0.9, double beta2 = 0.999,
                 double eps = 1e-8);

  // Scales the gradients down where their common norm exceeds `most` (0: never) and returns the norm before, on the
  // device. `inverse_scale` (defined for scaled losses) is multiplied in first.
  torch::Tensor clip(double most, const torch::Tensor& inverse_scale = {});

  // `rate_factor` multiplies every group's rate. Where `skip` (f32, on the device) is 1 nothing changes.
  void step(double rate_factor, const torch::Tensor& skip);

  void zero_grad();

  // Moments and counts by parameter name, sharing memory with this object.
  tensor::StateDict state() const;
  void load(const tensor::StateDict& state, const std::string& source);

 private:
  struct Slot {
    std::string name;
    torch::Tensor parameter, mean, square, count;
  };
  struct Group {
    double rate, weight_decay;
    std::vector<Slot> slots;
  };

  std::vector<torch::Tensor> gradients() const;

  std::vector<Group> groups_;
  const double beta1_, beta2_, eps_;
};

}  // namespace crisp::train
