#include "crisp/data/synth.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/progress.h"
#include "crisp/base/random.h"
#include "crisp/base/text.h"
#include "crisp/data/synth/figures.h"
#include "crisp/data/synth/scene.h"
#include "crisp/image/encode.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

void check_options(const SynthOptions& options) {
  if (options.images < 2 || options.images > 1'000'000) {
    throw UsageError("--images {}: between 2 and 1000000", options.images);
  }
  if (options.size < 32 || options.size > 4096) throw UsageError("--size {}: between 32 and 4096", options.size);
  if (options.classes < 2 || options.classes > synth_class_limit()) {
    throw UsageError("--classes {}: between 2 and {}, the background counted", options.classes, synth_class_limit());
  }
  if (!(options.zoom >= 0.5 && options.zoom <= 3)) throw UsageError("--zoom {}: between 0.5 and 3", options.zoom);
}

// Photos come upright, wide and square.
std::pair<int, int> draw_size(int longer, Rng& rng) {
  constexpr std::array kShapes = {1.0, 0.75, 0.75, 2.0 / 3};
  const int shorter = static_cast<int>(longer * kShapes[static_cast<size_t>(rng.below(4))] + 0.5);
  return rng.chance(0.6) ? std::pair(longer, shorter) : std::pair(shorter, longer);
}

std::string file_id(int index) { return fmt::format("scene_{:05}", index); }

}  // namespace

int synth_class_limit() { return static_cast<int>(synth::figure_classes().size()) + 1; }

ClassNames synth_classes(int classes) {
  ClassNames names = {"background"};
  for (int i = 1; i < classes; ++i) names.emplace_back(synth::figure_classes().at(static_cast<size_t>(i - 1)).name);
  return names;
}

void render_dataset(const SynthOptions& options, const Path& out, int threads) {
  check_options(options);
  const std::string recipe = fmt::format("images {}\nsize {}\nclasses {}\nzoom {}\nseed {}\n", options.images,
                                         options.size, options.classes, options.zoom, options.seed);
  if (fs::exists(out) && !fs::is_empty(out)) {
    const Path mark = out / "synth.txt";
    if (!fs::is_regular_file(mark)) throw Error("{}: is not empty; name a new folder", out.string());
    if (read_text(mark) != recipe) throw Error("{}: holds scenes of other options; name a new folder", out.string());
  }
  for (const char* folder : {"images", "masks", "splits"}) make_folder(out / folder);
  write_atomic(out / "synth.txt", recipe);
  const ClassNames classes = synth_classes(options.classes);
  write_atomic(out / "classes.txt", join(classes, "\n") + "\n");

  std::vector<std::string> tags(static_cast<size_t>(options.images));
  Progress progress("synth", options.images);
  parallel_for(options.images, threads, [&](int64_t i) {
    Rng rng(options.seed, static_cast<uint64_t>(i));
    const auto [width, height] = draw_size(options.size, rng);
    const synth::Scene scene = synth::render_scene(width, height, options.classes, rng, options.zoom);
    const std::string id = file_id(static_cast<int>(i));
    image::write_jpeg(out / "images" / (id + ".jpg"), scene.photo, 92);
    image::write_mask_png(out / "masks" / (id + ".png"), scene.truth);
    std::set<uint8_t> shown(scene.truth.labels.begin(), scene.truth.labels.end());
    shown.erase(0);
    std::string& line = tags[static_cast<size_t>(i)] = id;
    for (const uint8_t label : shown) line += " " + classes[label];
    if (shown.empty()) line += " background";
    progress.advance();
  });
  progress.finish();

  const int held = std::max(1, options.images / 5), trained = options.images - held;
  std::string train, val, all;
  for (int i = 0; i < options.images; ++i) {
    (i < trained ? train : val) += file_id(i) + "\n";
    all += tags[static_cast<size_t>(i)] + "\n";
  }
  write_atomic(out / "splits" / "train.txt", train);
  write_atomic(out / "splits" / "val.txt", val);
  write_atomic(out / "tags.txt", all);
}

}  // namespace crisp::data
