#include "crisp/seed/crossfit.h"

namespace crisp::seed {
namespace {

constexpr int64_t kLeastPhotos = 3;  // of a class, for a head to be asked about it

}  // namespace

torch::Tensor Crossfit::judge(const torch::Tensor& tokens, const Sha256& photo, const std::vector<int>& tags,
                              bool background) const {
  model::TokenHead head = heads_[1 - half_of(photo)];
  for (const int tag : tags) {
    if (head->photos[tag].item<int64_t>() < kLeastPhotos) return {};
  }
  const std::vector<int> allowed = allowed_labels(tags, background);
  const std::vector<int64_t> labels(allowed.begin(), allowed.end());
  const torch::Tensor judged = tokens[kJudgedBlock];  // [h, w, dim]
  const torch::Tensor known = torch::tensor(labels, torch::kLong).to(judged.device());
  const torch::Tensor likely = head->forward(judged).index_select(2, known).softmax(2);
  return likely.permute({2, 0, 1}).narrow(0, background ? 1 : 0, static_cast<int64_t>(tags.size()));
}

}  // namespace crisp::seed
