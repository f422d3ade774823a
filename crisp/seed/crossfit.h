#pragma once

#include <array>
#include <memory>
#include <vector>

#include "crisp/feature/store.h"
#include "crisp/model/token_head.h"

namespace crisp::seed {

// The tokens that are judged are those of the view's first block: they know less of the rest of their photo than the
// last ones do, so that sky is sky, whether there is an aeroplane in it or not.
inline constexpr int64_t kJudgedBlock = 0;

// What labels of all other photos say of a photo. The photos are divided into two halves; a head learned from one
// half's labels judges the other half. What a label got wrong in one photo (the sky around an aeroplane) is right in
// most others (sky behind birds, boats, trains), and no head has seen what it judges, so it cannot repeat it by heart.
// Cross-fitting, as statistics has it (Chernozhukov et al., 2018).
class Crossfit {
 public:
  // heads[h] has learned from half h.
  explicit Crossfit(std::array<model::TokenHead, 2> heads) : heads_(std::move(heads)) {}

  // Decided by the photo's content, so that copies of a photo are in one half.
  static size_t half_of(const Sha256& photo) { return photo[0] & 1; }

  // How likely each of the classes `tags` is at each token, over these and, where there is one, the background:
  // [tags, h, w]. Undefined where the head has met one of the tags too seldom to judge.
  torch::Tensor judge(const torch::Tensor& tokens, const Sha256& photo, const std::vector<int>& tags,
                      bool background = true) const;

 private:
  std::array<model::TokenHead, 2> heads_;
};

}  // namespace crisp::seed
