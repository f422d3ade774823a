#include "crisp/flow/from_recipe.h"

#include <algorithm>
#include <cmath>

#include "crisp/model/vit_config.h"
#include "crisp/recipe/words.h"
#include "crisp/tensor/device.h"
#include "crisp/tensor/onednn.h"

namespace crisp::flow {
namespace {

template <typename Enum>
std::string word(Enum value) {
  for (const auto& [choice, name] : recipe::Words<Enum>::all()) {
    if (choice == value) return name;
  }
  return "";
}

std::vector<seed::Refinement> chain(const std::vector<recipe::Refinement>& steps) {
  std::vector<std::string> words;
  for (const recipe::Refinement step : steps) words.push_back(word(step));
  return seed::parse_refinements(words);
}

data::AugmentOptions augment(const recipe::Augment& a) {
  data::AugmentOptions o;
  o.crop = static_cast<int>(a.crop);
  o.scale_low = a.scale_low;
  o.scale_high = a.scale_high;
  o.flip = a.flip;
  o.jitter = a.jitter;
  o.brightness = a.brightness;
  o.contrast = a.contrast;
  o.saturation = a.saturation;
  o.hue = a.hue;
  o.blur = a.blur;
  o.grey = a.grey;
  return o;
}

void take(const recipe::Optimiser& optimiser, const recipe::Schedule& schedule, train::TrainerOptions& o) {
  o.epochs = schedule.epochs;
  o.accumulate = optimiser.accumulate;
  o.clip = optimiser.clip;
  o.amp = word(optimiser.precision);
  o.schedule.decay = word(schedule.decay);
  o.schedule.power = schedule.power;
  o.schedule.warmup_epochs = schedule.warmup_epochs;
  o.validate_every = schedule.validate_every;
  o.checkpoint_every = schedule.checkpoint_every;
}

// As many passes as look at so many photos.
void settle(recipe::Schedule& schedule, int64_t photos) {
  if (schedule.epochs > 0) return;
  const double passes = static_cast<double>(schedule.photos) / static_cast<double>(std::max<int64_t>(1, photos));
  schedule.epochs = std::clamp<int64_t>(std::lround(passes), 2, 100);
}

}  // namespace

recipe::Recipe settled(recipe::Recipe r, const Circumstances& there) {
  const bool vit = model::is_vit(r.encoder.arch);
  settle(r.classify.schedule, there.photos);
  settle(r.student.schedule, there.photos);
  const int crop = crop_for(there.typical_side);
  if (r.classify.augment.crop == 0) r.classify.augment.crop = crop;
  double& scale = r.student.model.input_scale;
  if (scale == 0) {  // small photos are brought near the size the encoder was made for
    scale = std::clamp(std::round(4 * 480.0 / there.typical_side) / 4, 1.0, 2.0);
  }
  if (r.student.augment.crop == 0) r.student.augment.crop = zoomed_crop(crop == 448 ? 512 : crop, scale);
  const auto precision = [&](recipe::Precision& p, bool bf16_pays) {
    if (p == recipe::Precision::kAuto) p = bf16_pays ? recipe::Precision::kBf16 : recipe::Precision::kF32;
  };
  precision(r.classify.optimiser.precision, there.gpu);
  precision(r.student.optimiser.precision, there.gpu || (vit && tensor::cpu_has_bf16()));
  return r;
}

void take(const recipe::Recipe& r, ClassifierOptions& o) {
  const recipe::Classify& c = r.classify;
  o.arch = r.encoder.arch;
  o.init = r.encoder.weights;
  o.pooling = word(c.pooling);
  o.top_share = c.top_share;
  o.stride = c.stride;
  o.drop_path = c.drop_path;
  o.task.encoder_rate = c.optimiser.encoder_rate;
  o.task.head_rate = c.optimiser.head_rate;
  o.task.weight_decay = c.optimiser.weight_decay;
  o.task.freeze_norms = c.freeze_norms;
  o.task.mosaic = c.mosaic;
  o.task.batch = c.optimiser.batch;
  o.task.augment = augment(c.augment);
  take(c.optimiser, c.schedule, o.trainer);
}

void take(const recipe::Recipe& r, SeedsOptions& o) {
  const recipe::Seeds& s = r.seeds;
  o.cam.scales = s.scales;
  o.cam.flip = s.flip;
  o.cam.multiple = static_cast<int>(s.multiple);
  o.cam.similarity = s.spread_power;
  o.cam.similarity_rounds = static_cast<int>(s.spread_rounds);
  o.crossfit = static_cast<int>(s.crossfit);
  o.seed.max_side = static_cast<int>(s.max_side);
  o.background = o.seed.background = seed::parse_background(s.background);
  o.seed.untagged = s.untagged == recipe::Untagged::kSkip ? seed::Untagged::kSkip : seed::Untagged::kBackground;
  o.seed.refine.chain = chain(s.refine);
  o.crf = word(s.crf);
  o.seed.refine.crf = ops::crf_preset(o.crf);
  o.seed.refine.crf.iterations = static_cast<int>(s.crf_iterations);
  o.seed.refine.crf.scale_factor = static_cast<float>(s.crf_scale);
  const recipe::Affinity& a = s.affinity;
  o.seed.refine.walk_steps = static_cast<int>(a.walk_steps);
  o.seed.refine.walk_maps = a.walk_on == recipe::WalkOn::kMaps;
  o.seed.sure_object = seed::parse_background(a.sure_object);
  o.seed.sure_background = seed::parse_background(a.sure_background);
  o.affinity_task.batch = a.batch;
  o.affinity_task.head_rate = a.rate;
  o.affinity_task.train_encoder = a.train == recipe::AffinityTrain::kAll;
  o.affinity_task.augment = augment(r.classify.augment);
  o.affinity_trainer.epochs = a.epochs;
  o.affinity_trainer.amp = word(r.classify.optimiser.precision);
}

void take(const recipe::Recipe& r, StudentOptions& o) {
  const recipe::Student& s = r.student;
  const recipe::Model& m = s.model;
  o.arch = r.encoder.arch;
  o.init = r.encoder.weights;
  o.ablation = word(m.row);
  o.uncertainty = word(m.sources);
  o.width = m.width;
  o.hidden = m.hidden;
  o.modulation_minmax = m.modulation_minmax;
  o.fine = r.encoder.cells_per_token;
  o.dropout = m.dropout;
  o.drop_path = m.drop_path;
  o.temperature = m.temperature;
  o.zoom = m.input_scale;
  o.fusion = word(m.fusion);
  o.modulation = word(m.modulation);
  o.boundary_on_e1 = m.boundary_on_e1;
  o.propagate = m.propagation_steps;

  loss::Options& l = o.task.loss;
  l.cross_entropy = s.loss.cross_entropy;
  l.dice = s.loss.dice;
  l.heteroscedastic = s.loss.heteroscedastic;
  l.boundary = s.loss.boundary;
  l.surface = s.loss.surface;
  l.edges = s.loss.edge_weight;
  l.edge_reach = s.loss.edge_reach;
  l.weight.strength = s.loss.weighting_strength;
  o.weighting_minmax = s.loss.weighting_range == recipe::Range::kMinMax;
  l.label_variance = s.loss.label_variance;
  l.discount_boundary = s.loss.discount_boundary;
  o.task.band_width = static_cast<int>(s.loss.boundary_band);
  o.task.label_side = static_cast<int>(s.loss.label_side);

  o.task.phases = {.refiner_attached = s.phases.refiner_attached,
                   .weighting = s.phases.weighting_from,
                   .modulation = s.phases.modulation_from,
                   .drop_first = s.phases.drop_first,
                   .drop_last = s.phases.drop_last,
                   .drop_until = s.phases.drop_until};

  const recipe::Relabel& t = s.relabel;
  train::RelabelOptions& relabel = o.task.relabel;
  o.no_relabel = !t.on;
  relabel.from = t.from;
  relabel.every = t.every;
  relabel.passes = t.passes;
  relabel.scales = t.scales;
  relabel.flip = t.flip;
  relabel.keep_first = t.keep_first;
  relabel.keep_last = t.keep_last;
  relabel.keep_at_least = t.keep_pixels;
  relabel.image_wide = t.image_wide;
  relabel.threshold = t.max_uncertainty;
  relabel.found_at_least = t.min_tag_recall;
  relabel.all = t.all_photos;
  relabel.trust = t.previous_label_weight;
  relabel.checked = t.checked;
  o.relabel_refine = t.refine.empty() ? "none" : seed::to_string(chain(t.refine));

  o.task.encoder_rate = s.optimiser.encoder_rate;
  o.task.head_rate = s.optimiser.head_rate;
  o.task.weight_decay = s.optimiser.weight_decay;
  o.task.batch = s.optimiser.batch;
  o.task.augment = augment(s.augment);
  o.task.amp = tensor::parse_dtype(word(s.optimiser.precision));
  take(s.optimiser, s.schedule, o.trainer);
  o.trainer.ema_decay = s.ema_decay;
}

}  // namespace crisp::flow
