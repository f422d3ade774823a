#pragma once

#include <memory>

#include "crisp/base/sha256.h"
#include "crisp/model/config.h"
#include "crisp/model/encoder.h"
#include "crisp/model/vit.h"

namespace crisp::model {

// A ViT that nobody changes, and the file it came from. One may serve several networks.
struct FrozenVit {
  Vit network{nullptr};
  Sha256 sha256{};  // of the weight file: models that stand on it name it
  Path file;
  torch::ScalarType type = torch::kFloat;  // of its passes on the CPU
};

// On the CPU; passes there use weights packed in bf16 where the processor has it, else in f32 (`type` asks for one).
std::shared_ptr<FrozenVit> load_frozen_vit(const Path& file, torch::ScalarType type = torch::kBFloat16);

// A frozen ViT as four scales for a head:
//   map 1      a small trained branch of the photo itself, `fine` cells along each side of a token: where things end;
//              undefined where `detail` is 0
//   maps 2..4  the tokens of three blocks, each channel minus its mean over its deviation, over the photos learned from
// The ViT is no part of this module: it is neither trained, averaged, nor saved with it.
struct VitScalesImpl : EncoderImpl, Drawn {
  explicit VitScalesImpl(const EncoderConfig& config);

  // Images of sides that are multiples of the patch. `tokens` as ask() gives them, of any floating type; undefined:
  // the ViT is asked.
  Features forward(const torch::Tensor& images, const torch::Tensor& tokens = {}) override;
  torch::Tensor last(const torch::Tensor& images, const torch::Tensor& tokens = {}) override;

  // [N, blocks, h, w, dim] f32: what a feature cache keeps. Without gradients.
  torch::Tensor ask(const torch::Tensor& images);

  // The ViT that is asked; moves it to this module's device.
  void stand_on(std::shared_ptr<FrozenVit> vit);
  const std::shared_ptr<FrozenVit>& vit() const { return vit_; }

  // Mean and deviation of each block's channels, [blocks, dim].
  void standardise_by(const torch::Tensor& mean, const torch::Tensor& deviation);

  using EncoderImpl::to;
  void to(torch::Device device, bool non_blocking) override;                      // the ViT too
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking) override;  // which keeps its own type
  void draw() override;                                                           // mean 0, deviation 1

  const EncoderConfig config;
  torch::nn::ModuleList detail;   // convolutions of stride 2
  torch::Tensor mean, deviation;  // buffers

 private:
  torch::Tensor standard(const torch::Tensor& tokens, int64_t block) const;  // -> [N, dim, h, w]

  std::shared_ptr<FrozenVit> vit_;
};
TORCH_MODULE(VitScales);

}  // namespace crisp::model
