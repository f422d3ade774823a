#pragma once

#include <limits>
#include <string>

#include "crisp/recipe/recipe.h"

// The one list of all that a recipe holds. Files, the command line, validation, differences, docs/options.md and the
// fingerprints of stages come from it and from nowhere else.
namespace crisp::recipe {

struct Field {
  const char* path;  // "loss.edge_weight"
  const char* says;  // one sentence
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  const char* unit = "";
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

namespace fields {

// visit(Field, value) for each; sections that several stages have are written once.
template <typename Optimiser, typename Visit>
void optimiser(const std::string& stage, Optimiser& o, Visit&& visit) {
  const auto at = [&](const char* name) { return stage + ".optimiser." + name; };
  visit(Field{at("batch").c_str(), "photos, or crops of them, that one step of the optimizer looks at", 1, 4096},
        o.batch);
  visit(Field{at("accumulate").c_str(), "batches whose gradients make one step", 1, 1024}, o.accumulate);
  visit(Field{at("encoder_rate").c_str(), "learning rate of the encoder; 0: it stays as it is", 0, 1}, o.encoder_rate);
  visit(Field{at("head_rate").c_str(), "learning rate of everything else", 0, 1}, o.head_rate);
  visit(Field{at("weight_decay").c_str(), "of weights, not of norms and biases", 0, 1}, o.weight_decay);
  visit(Field{at("clip").c_str(), "most norm of all gradients together; 0: no limit", 0}, o.clip);
  visit(Field{at("precision").c_str(),
              "of products and convolutions; auto: bf16 where the machine has it and it is faster"},
        o.precision);
}

template <typename Schedule, typename Visit>
void schedule(const std::string& stage, Schedule& s, Visit&& visit) {
  const auto at = [&](const char* name) { return stage + ".schedule." + name; };
  visit(Field{at("epochs").c_str(), "passes over the photos; 0: as many as `photos` asks for", 0, 100000}, s.epochs);
  visit(Field{at("photos").c_str(),
              "photos to look at in all, repeats counted, where epochs is 0: 2 to 100 passes, however many there are",
              0, 1e9},
        s.photos);
  visit(
      Field{at("warmup_epochs").c_str(), "in which the rates rise, at most a fifth of training", 0, kNoLimit, "epochs"},
      s.warmup_epochs);
  visit(Field{at("decay").c_str(), "how the learning rates fall"}, s.decay);
  visit(Field{at("power").c_str(), "of the decay `poly`", 0, 10}, s.power);
  visit(Field{at("validate_every").c_str(), "between looks at held-out photos, which choose nothing; 0: never", 0,
              kNoLimit, "epochs"},
        s.validate_every);
  visit(Field{at("checkpoint_every").c_str(), "between checkpoints", 1, kNoLimit, "epochs"}, s.checkpoint_every);
}

template <typename Augment, typename Visit>
void augment(const std::string& stage, Augment& a, Visit&& visit) {
  const auto at = [&](const char* name) { return stage + ".augment." + name; };
  visit(Field{at("crop").c_str(), "side of the square that is learned from; 0: by the photos' size", 0, 8192, "pixels"},
        a.crop);
  visit(Field{at("scale_low").c_str(), "random scale, from", 0.01, 16}, a.scale_low);
  visit(Field{at("scale_high").c_str(), "random scale, to", 0.01, 16}, a.scale_high);
  visit(Field{at("flip").c_str(), "probability of mirroring", 0, 1}, a.flip);
  visit(Field{at("jitter").c_str(), "probability of changing colours", 0, 1}, a.jitter);
  visit(Field{at("brightness").c_str(), "most change", 0, 1}, a.brightness);
  visit(Field{at("contrast").c_str(), "most change", 0, 1}, a.contrast);
  visit(Field{at("saturation").c_str(), "most change", 0, 1}, a.saturation);
  visit(Field{at("hue").c_str(), "most change", 0, 0.5}, a.hue);
  visit(Field{at("blur").c_str(), "probability of blurring", 0, 1}, a.blur);
  visit(Field{at("grey").c_str(), "probability of a grey photo", 0, 1}, a.grey);
}

}  // namespace fields

template <typename Recipe, typename Visit>
void for_each_field(Recipe& r, Visit&& visit) {
  const auto add = [&](const char* path, const char* says, auto& value, double least = -kNoLimit,
                       double most = kNoLimit,
                       const char* unit = "") { visit(Field{path, says, least, most, unit}, value); };
  add("encoder.arch", "mit_b0 to mit_b5, learned on; or vit_s14, vit_b14, vit_l14: DINOv2, used as it is",
      r.encoder.arch);
  add("encoder.weights", "a file to start from; empty: those shipped; none: drawn at random", r.encoder.weights);
  add("encoder.cells_per_token", "on a ViT: cells of the decoder's grid along a token's side",
      r.encoder.cells_per_token, 1, 14);

  auto& c = r.classify;
  add("classify.pooling", "how a map becomes the score of a photo", c.pooling);
  add("classify.top_share", "of the cells, for the poolings top and both", c.top_share, 0, 1);
  add("classify.stride", "on MiT: pixels a cell of the maps, 8, 16 or 32", c.stride, 8, 32, "pixels");
  add("classify.drop_path", "stochastic depth of the last block", c.drop_path, 0, 0.9);
  add("classify.mosaic", "share of the steps that show four photos as one, each with its tags", c.mosaic, 0, 1);
  add("classify.freeze_norms", "layer norms keep their weights", c.freeze_norms);
  fields::optimiser("classify", c.optimiser, visit);
  fields::schedule("classify", c.schedule, visit);
  fields::augment("classify", c.augment, visit);

  auto& s = r.seeds;
  add("seeds.scales", "on MiT: image scales whose maps are summed; empty: by the photos' size", s.scales, 0.05, 8);
  add("seeds.flip", "mirrored photos too", s.flip);
  add("seeds.multiple", "scaled sides are rounded to a multiple of this; 1: exact", s.multiple, 1, 512, "pixels");
  add("seeds.max_side", "larger photos are worked on at this size", s.max_side, 32, 65536, "pixels");
  add("seeds.spread_power",
      "maps are spread over what looks alike to the encoder: power of the similarity; 0: they are not", s.spread_power,
      0, 64);
  add("seeds.spread_rounds", "how often", s.spread_rounds, 0, 64);
  add("seeds.crossfit", "on a ViT: rounds in which the labels of all other photos judge each photo", s.crossfit, 0, 8);
  add("seeds.background", "score of the background: a number, or power:A for (1 - max)^A", s.background);
  add("seeds.untagged", "what becomes of photos without tags: left out, or all background", s.untagged);
  add("seeds.refine", "what is done to labels, in this order", s.refine);
  add("seeds.crf", "parameters of the CRF by name", s.crf);
  add("seeds.crf_iterations", "of mean field", s.crf_iterations, 1, 1000);
  add("seeds.crf_scale", "divides the CRF's distances, for photos scaled down by this", s.crf_scale, 0.01, 100);
  auto& a = s.affinity;
  add("seeds.affinity.epochs", "of learning which pixels belong together", a.epochs, 1, 1000);
  add("seeds.affinity.batch", "photos a batch", a.batch, 1, 4096);
  add("seeds.affinity.rate", "learning rate of the affinity head", a.rate, 0, 1);
  add("seeds.affinity.train", "the head alone, or the encoder too", a.train);
  add("seeds.affinity.sure_object", "background under which objects are sure", a.sure_object);
  add("seeds.affinity.sure_background", "background under which background is sure", a.sure_background);
  add("seeds.affinity.walk_steps", "of the random walk", a.walk_steps, 1, 65536);
  add("seeds.affinity.walk_on", "maps, before the background has its say, or the posterior", a.walk_on);

  auto& m = r.student.model;
  add("model.row",
      "parts of the network: A0 SegFormer head, A1 + DMF, A2 + variance, A3 + refiner, A4 + boundary, A5 + "
      "U-DMF, A6 + relabelling",
      m.row);
  add("model.sources", "of uncertainty: U0 none, U1 entropy, U2 aleatoric, U3 both, U4 and epistemic in relabelling",
      m.sources);
  add("model.start", "encoder to start from: that of encoder.weights, or the one of the tag classifier", m.start);
  add("model.width", "channels of the decoder; 0: 256 for B0 and B1, 384 above, 128 on a ViT", m.width, 0, 4096,
      "channels");
  add("model.hidden", "channels inside the decoder's branches", m.hidden, 1, 4096, "channels");
  add("model.dropout", "of whole channels of the fused map", m.dropout, 0, 0.9);
  add("model.drop_path", "stochastic depth of the last block", m.drop_path, 0, 0.9);
  add("model.temperature", "of the softmax over scales", m.temperature, 0.01, 100);
  add("model.input_scale", "on MiT: photos are enlarged by this, in training and ever after; 0: small ones are",
      m.input_scale, 0, 8);
  add("model.fusion", "how the four scales become one map", m.fusion);
  add("model.modulation", "how uncertainty modulates the fusion, in rows that do", m.modulation);
  add("model.modulation_minmax", "modulation by uncertainty normalised over the image", m.modulation_minmax);
  add("model.boundary_on_e1", "the boundary branch sees the finest map instead of the fused one", m.boundary_on_e1);
  add("model.propagation_steps", "steps by which scores follow the photo's colours, a layer of the network; 0: none",
      m.propagation_steps, 0, 64);

  auto& l = r.student.loss;
  add("loss.cross_entropy", "weight of the cross-entropy", l.cross_entropy, 0);
  add("loss.dice", "weight of the Dice loss", l.dice, 0);
  add("loss.heteroscedastic", "weight of the heteroscedastic loss, by which variances are learned", l.heteroscedastic,
      0);
  add("loss.boundary", "weight of the boundary loss", l.boundary, 0);
  add("loss.surface", "weight of the signed-distance loss; the paper's optional 0.1", l.surface, 0);
  add("loss.edge_weight", "pixels near an edge of the labels count so many times more; 0: as others do", l.edge_weight,
      0);
  add("loss.edge_reach", "what edge_weight calls near", l.edge_reach, 0.5, 31.9, "pixels of the labels");
  add("loss.weighting_strength", "beta: uncertain pixels count exp(-beta U)", l.weighting_strength, 0, 100);
  add("loss.weighting_range", "how U is brought to 0..1 in each image", l.weighting_range);
  add("loss.label_variance", "heteroscedastic loss by the labelled class's variance, not the mean", l.label_variance);
  add("loss.discount_boundary", "uncertain pixels count less in the boundary loss too", l.discount_boundary);
  add("loss.boundary_band", "width of the band that the boundary branch is to find, 2 or 3", l.boundary_band, 2, 3,
      "pixels");
  add("loss.label_side", "on a ViT: side of the labels that losses see", l.label_side, 16, 4096, "cells");

  auto& p = r.student.phases;
  add("phases.refiner_attached", "from here gradients pass the refiner's inputs", p.refiner_attached, 0, 1,
      "of training");
  add("phases.weighting_from", "from here uncertain pixels count less", p.weighting_from, 0, 1, "of training");
  add("phases.modulation_from", "from here uncertainty modulates the fusion", p.modulation_from, 0, 1, "of training");
  add("phases.drop_first", "share of each class's least sure seed pixels that is left out at the start", p.drop_first,
      0, 1);
  add("phases.drop_last", "the same from drop_until on", p.drop_last, 0, 1);
  add("phases.drop_until", "until here the share goes from the first to the last", p.drop_until, 0, 1, "of training");

  auto& t = r.student.relabel;
  add("relabel.on", "the teacher relabels, in row A6", t.on);
  add("relabel.from", "first round", t.from, 0, 1, "of training");
  add("relabel.every", "between rounds", t.every, 0.001, 1, "of training");
  add("relabel.passes", "predictions with dropout that are averaged", t.passes, 1, 1000);
  add("relabel.scales", "the teacher looks at photos at these scales; passes are shared out", t.scales, 0.05, 8);
  add("relabel.flip", "and at mirrored photos", t.flip);
  add("relabel.keep_first", "share of each class's surest relabelled pixels that is kept, at first", t.keep_first, 0,
      1);
  add("relabel.keep_last", "the same at the end", t.keep_last, 0, 1);
  add("relabel.keep_pixels", "of each class, at least", t.keep_pixels, 0, kNoLimit, "pixels");
  add("relabel.image_wide", "shares over the image, not of each class", t.image_wide);
  add("relabel.max_uncertainty", "above 0: a fixed threshold of uncertainty instead of shares", t.max_uncertainty, 0,
      1);
  add("relabel.min_tag_recall", "share of the tags that the teacher must find, else the round is postponed",
      t.min_tag_recall, 0, 1);
  add("relabel.all_photos", "relabel photos too in which the teacher misses a tag", t.all_photos);
  add("relabel.previous_label_weight", "of the labels so far against the teacher; 1: as much as the teacher",
      t.previous_label_weight, 0, 10);
  add("relabel.checked", "withdraw a round after which tags are known worse or mirrored photos agree less", t.checked);
  add("relabel.refine", "what is done to the teacher's labels, in this order", t.refine);

  fields::optimiser("student", r.student.optimiser, visit);
  fields::schedule("student", r.student.schedule, visit);
  fields::augment("student", r.student.augment, visit);
  add("student.ema_decay", "of the teacher", r.student.ema_decay, 0, 1);
}

}  // namespace crisp::recipe
