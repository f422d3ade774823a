#pragma once

#include "crisp/model/layers.h"

namespace crisp::model {

// Share of the photo in each cell of a map: `photo` [N, 1, H, W] is 1 on the photo and 0 on padding; undefined: all 1.
torch::Tensor photo_share(const torch::Tensor& photo, const torch::Tensor& maps);

// Mean of the best cells of each map [N, C, h, w], so many as `fraction` of all, in f32. Cells that are mostly padding
// are nobody's best.
torch::Tensor mean_of_best(const torch::Tensor& maps, const torch::Tensor& share, double fraction);

inline constexpr double kPresenceShare = 0.2;  // of the cells, as in the tag classifier of `run`

// Which classes does the photo show at all? The tag classifier's question, asked by the segmenter's own encoder: tags
// are the one thing that is known for certain in training, and a pixel alone cannot tell.
struct PresenceImpl : torch::nn::Module {
  PresenceImpl(int64_t channels, int64_t classes);  // with the background, which is always there

  torch::Tensor forward(const torch::Tensor& coarsest, const torch::Tensor& photo = {});  // C4 -> logits [N, K-1]

  Conv scores{nullptr};
};
TORCH_MODULE(Presence);

// Z*_k + strength * min(0, log(2 P(k is there))): a pixel's class must be one that the photo may show. What is likelier
// there than not is left alone, and so is the background.
torch::Tensor gated_by_presence(const torch::Tensor& refined, const torch::Tensor& presence, double strength);

// Half of it for this branch, since pixels come from the same encoder and know most of it already: the whole makes
// masks surer of themselves than they are right.
inline constexpr double kPresenceStrength = 0.5;

}  // namespace crisp::model
