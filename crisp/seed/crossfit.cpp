#include "crisp/seed/crossfit.h"

namespace crisp::seed {
namespace {

constexpr int64_t kLeastPhotos = 3;  // of a class, for a head to be asked about it

}  // namespace

torch::Tensor Crossfit::judge(const torch::Tensor& tokens, const Sha256& photo, const std::vector<int>& tags) const {
  model::TokenHead head = heads_[1 - half_of(photo)];
  std::vector<int64_t> labels = {0};
  for (const int tag : tags) {
    if (head->photos[tag].item<int64_t>() < kLeastPhotos) return {};
    labels.push_back(tag);
  }
  const torch::Tensor judged = tokens[kJudgedBlock];  // [h, w, dim]
  const torch::Tensor known = torch::tensor(labels, torch::kLong).to(judged.device());
  const torch::Tensor likely = head->forward(judged).index_select(2, known).softmax(2);
  return likely.permute({2, 0, 1}).narrow(0, 1, static_cast<int64_t>(tags.size()));
}

}  // namespace crisp::seed
