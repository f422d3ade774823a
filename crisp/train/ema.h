#pragma once

#include <cstdint>
#include <vector>

#include "crisp/tensor/torch.h"

namespace crisp::train {

// The teacher: a running mean of the student's weights and batch-norm statistics,
//   teacher <- d teacher + (1 - d) student,  d = min(1 - 1/(t + 1), decay)  at update t = 1, 2, ...
class Ema {
 public:
  // Both modules have the same tensors in the same order; the teacher starts as a copy.
  Ema(const torch::nn::Module& student, const torch::nn::Module& teacher, double decay);

  // `number` is 1 for the first. Where `skip` (f32, on the device) is 1 nothing changes.
  void update(int64_t number, const torch::Tensor& skip);
  void copy();  // the teacher becomes the student

  static double decay_at(int64_t number, double most);

 private:
  std::vector<torch::Tensor> student_, teacher_;                // floating tensors
  std::vector<torch::Tensor> student_counts_, teacher_counts_;  // integers are copied
  const double decay_;
};

}  // namespace crisp::train
