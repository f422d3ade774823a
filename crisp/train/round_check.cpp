#include "crisp/train/round_check.h"

#include <sstream>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/image/decode.h"
#include "crisp/metric/average_precision.h"
#include "crisp/model/best_cells.h"
#include "crisp/tensor/autocast.h"
#include "crisp/tensor/seldom_sizes.h"
#include "crisp/train/class_match.h"
#include "crisp/train/relabel.h"

namespace crisp::train {
namespace {

constexpr double kTagShare = 0.05;  // of the cells
constexpr double kChance = 1;       // points

torch::Tensor probabilities_of(model::SegmenterImpl& network, const feature::Input& input) {
  return teacher_views(network, input, /*passes=*/1, {}, {1}, /*flip=*/false)[0].probabilities;
}

}  // namespace

MasklessScore score_without_masks(model::Segmenter network, const std::vector<data::Sample>& samples, size_t count,
                                  torch::Device device, torch::ScalarType dtype, feature::Store* store) {
  std::vector<data::Sample> tagged;
  for (const data::Sample& sample : samples) {
    if (!sample.tags.empty()) tagged.push_back(sample);
  }
  const torch::InferenceMode inference;
  const tensor::Autocast mixed(device, dtype);
  network->eval();
  const int64_t classes = network->config.head.classes;
  std::vector<std::vector<float>> scores;
  std::vector<std::vector<uint8_t>> shown;
  double same = 0, cells = 0;
  for (const data::Sample& sample : spread_over(tagged, count)) {
    image::Image photo;
    try {
      photo = image::read_image(sample.image);
    } catch (const Error& problem) {
      log_warning("checking a round: skipped {}", problem.what());
      continue;
    }
    feature::Input plain = feature::input_of(network->config.encoder, {photo}, {sample.image}, store, device);
    feature::Input mirrored{plain.pixels.flip(3), {}};
    if (store != nullptr) {
      const data::Features seen = store->of({sample.image, true});
      mirrored.tokens = feature::stacked({&seen}).to(device);
    }
    const tensor::SeldomSizes seldom(plain.pixels);
    const torch::Tensor maps = probabilities_of(*network, plain).to(torch::kCPU);
    const torch::Tensor other = probabilities_of(*network, mirrored).to(torch::kCPU).flip(2);
    same += maps.argmax(0).eq(other.argmax(0)).sum().item<double>();
    cells += static_cast<double>(maps[0].numel());
    const torch::Tensor things = maps.narrow(0, 1, classes - 1).unsqueeze(0);
    const torch::Tensor best = model::mean_of_best(things, torch::ones_like(things), kTagShare)[0].contiguous();
    scores.emplace_back(best.const_data_ptr<float>(), best.const_data_ptr<float>() + classes - 1);
    shown.emplace_back(static_cast<size_t>(classes - 1));
    for (const int tag : sample.tags) shown.back()[static_cast<size_t>(tag - 1)] = 1;
  }
  if (scores.empty()) return {};
  return {100 * metric::mean_average_precision(scores, shown).value, 100 * same / cells};
}

bool is_lower(const MasklessScore& now, const MasklessScore& before) {
  return now.tags < before.tags - kChance || now.mirror < before.mirror - kChance;
}

std::string RoundTrial::to_text() const {
  return fmt::format("{} {} {} {}", due, before.tags, before.mirror, labels_before);
}

RoundTrial RoundTrial::from_text(const std::string& text) {
  std::istringstream line(text);
  RoundTrial trial;
  line >> trial.due >> trial.before.tags >> trial.before.mirror >> trial.labels_before;  // the last may be empty
  return trial;
}

std::string RoundTrial::compared_with(const MasklessScore& after) const {
  return fmt::format(
      "the teacher's mean average precision of tags went from {:.1f} to {:.1f}, its agreement with mirrored photos "
      "from "
      "{:.1f}% to {:.1f}%",
      before.tags, after.tags, before.mirror, after.mirror);
}

}  // namespace crisp::train
