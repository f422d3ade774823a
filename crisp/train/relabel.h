#pragma once

#include <functional>
#include <string>

#include "crisp/data/dataset.h"
#include "crisp/data/seed_folder.h"
#include "crisp/feature/store.h"
#include "crisp/metric/confusion.h"
#include "crisp/model/segmenter.h"
#include "crisp/train/student.h"

namespace crisp::train {

// What the teacher thinks of one photo: the mean of `passes` predictions with dropout in the decoder, the encoder
// evaluated once. At 1/4 resolution; with larger scales, at 1/4 of the largest.
struct TeacherView {
  torch::Tensor probabilities;  // mean P* [K, h, w]
  torch::Tensor uncertainty;    // U_T, 0..1 [h, w]
};

// One size of photos, [N, 3, H, W] as the encoder is shown them. U_T is the mean of the sources, each normalised per
// image: aleatoric (U_ale, mean over passes), entropy of the mean, epistemic (mutual information: entropy of the mean -
// mean entropy). With several scales or flips each has its share of the passes, at least one.
std::vector<TeacherView> teacher_views(model::SegmenterImpl& teacher, const feature::Input& input, int64_t passes,
                                       const TeacherSources& sources, const std::vector<double>& scales = {1},
                                       bool flip = false);

// The likeliest of the `allowed` labels at each pixel, at the photo's size, and U_T.
data::Seed label_from(const TeacherView& view, const std::vector<int>& allowed, int width, int height);
// The same after weighing it against the labels so far (null: none): P q^trust, q giving their label (1 + (L-1) m) / L
// of L labels, m = 1 - its uncertainty, at most kSure; and after refinement: edges go where the photo has them, as in
// the first seeds.
data::Seed refined_label_from(const TeacherView& view, const std::vector<int>& allowed, const image::Image& photo,
                              const data::Seed* so_far, const RelabelOptions& options);
inline constexpr float kSure = 0.95f;

struct RelabelReport {
  double agreement = 0;  // share of pixels with the same label as before (where that was one), 0..1
  double found = 0;      // share of photo-tag pairs with at least one pixel
  double miou = -1;      // percent, where masks exist; for looking at
  int64_t images = 0;
  double seconds = 0;
};

// A new seed folder from the teacher; `facts` say whose photos these are and who labels them. `before` are the labels
// in use, null where there are none: then every photo gets the teacher's. `truth` may be null.
RelabelReport relabel(model::Segmenter teacher, const std::vector<data::Sample>& samples, data::SeedFacts facts,
                      const data::SeedFolder* before, const data::Dataset* truth, const RelabelOptions& options,
                      torch::Device device, torch::ScalarType dtype, int workers, int64_t batch, uint64_t seed,
                      const Path& out, feature::Store* store = nullptr);

}  // namespace crisp::train
