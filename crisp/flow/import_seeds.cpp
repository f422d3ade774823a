#include "crisp/flow/import_seeds.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/parallel.h"
#include "crisp/base/progress.h"
#include "crisp/data/lists.h"
#include "crisp/image/decode.h"
#include "crisp/seed/cam_file.h"

namespace crisp::flow {
namespace {

// Files of the folder by the name they have below it, and by their last part where that is unique.
std::map<std::string, Path> files_by_name(const Path& folder, const std::vector<std::string>& extensions) {
  std::map<std::string, Path> by_name, by_stem;
  std::set<std::string> shared;
  const std::vector<Path> files = list_files(folder, extensions);
  if (files.empty()) throw Error("{}: no {} file in it", folder.string(), extensions[0]);
  for (const Path& file : files) {
    by_name[file.lexically_relative(folder).replace_extension().generic_string()] = file;
    if (!by_stem.emplace(file.stem().string(), file).second) shared.insert(file.stem().string());
  }
  for (const auto& [stem, file] : by_stem) {
    if (!shared.contains(stem)) by_name.emplace(stem, file);
  }
  return by_name;
}

// The labels of a mask as a distribution over what occurs in it and the photo's tags.
seed::Posterior mask_posterior(const image::Mask& mask, const data::Sample& sample, double confidence) {
  std::vector<bool> present(256);
  present[0] = true;
  for (const uint8_t label : mask.labels) present[label] = true;
  for (const int tag : sample.tags) present[static_cast<size_t>(tag)] = true;
  seed::Posterior p{mask.width, mask.height, {}, {}};
  std::vector<uint8_t> place(256, 255);
  for (int k = 0; k < 255; ++k) {
    if (!present[static_cast<size_t>(k)]) continue;
    place[static_cast<size_t>(k)] = static_cast<uint8_t>(p.labels.size());
    p.labels.push_back(k);
  }
  std::vector<uint8_t> places(mask.labels.size());
  std::transform(mask.labels.begin(), mask.labels.end(), places.begin(), [&](uint8_t label) { return place[label]; });
  p.probabilities = ops::label_probabilities(places, static_cast<int>(p.labels.size()), static_cast<float>(confidence));
  return p;
}

class Importer {
 public:
  Importer(const ImportOptions& options, const ClassNames& classes) : options_(options), classes_(classes) {}

  data::Seed from_mask(const data::Sample& sample, const Path& file) const {
    image::Mask mask = image::read_mask(file);
    const bool refined = !options_.seed.refine.chain.empty();
    const image::ImageSize size = image::read_size(sample.image);
    if (mask.width != size.width || mask.height != size.height) {
      throw Error("{}: {}x{}, but its photo {} is {}x{}", file.string(), mask.width, mask.height, sample.image.string(),
                  size.width, size.height);
    }
    for (uint8_t& label : mask.labels) {
      if (label == image::kIgnore) continue;
      if (label >= classes_.size()) {
        throw Error("{}: label {}, but the data set has {} classes", file.string(), label, classes_.size());
      }
      const bool tagged = std::find(sample.tags.begin(), sample.tags.end(), label) != sample.tags.end();
      if (label > 0 && sample.has_tags && options_.only_tags && !tagged) label = image::kIgnore;
    }
    if (!refined) return {mask, image::Mask(mask.width, mask.height)};
    seed::Posterior p = mask_posterior(mask, sample, options_.confidence);
    seed::refine(image::read_image(sample.image), {}, options_.seed.refine, p);
    return seed::to_seed(p);
  }

  data::Seed from_cams(const data::Sample& sample, const Path& file) const {
    const image::Image photo = image::read_image(sample.image);
    seed::Cams cams =
        seed::read_cam_file(file, photo.width, photo.height, static_cast<int>(classes_.size()), options_.cam_first);
    cams.background = has_background(classes_);
    if (sample.has_tags && options_.only_tags) drop_untagged(cams, sample.tags);
    return seed::make_seed(photo, cams, {}, options_.seed);
  }

 private:
  static void drop_untagged(seed::Cams& cams, const std::vector<int>& tags) {
    seed::Cams kept{cams.width, cams.height, {}, {}, cams.background};
    for (size_t k = 0; k < cams.classes.size(); ++k) {
      if (std::find(tags.begin(), tags.end(), cams.classes[k]) == tags.end()) continue;
      kept.classes.push_back(cams.classes[k]);
      const auto begin = cams.maps.begin() + static_cast<ptrdiff_t>(k * cams.pixels());
      kept.maps.insert(kept.maps.end(), begin, begin + static_cast<ptrdiff_t>(cams.pixels()));
    }
    cams = std::move(kept);
  }

  const ImportOptions& options_;
  const ClassNames& classes_;
};

}  // namespace

data::SeedFacts import_seeds(const ImportOptions& options) {
  if (options.masks.empty() == options.cams.empty()) {
    throw UsageError("give where the seeds come from: one of --masks DIR, --cams DIR");
  }
  if (options.seed.refine.has(seed::Refinement::kAffinity)) {
    throw UsageError("--refine affinity needs a classifier: use `crispformer seeds`");
  }
  const bool masks = !options.masks.empty();
  const Path source = masks ? options.masks : options.cams;
  const data::Dataset dataset =
      data::open_dataset(options.data, {.tags_from = data::parse_tag_source(options.tags_from),
                                        .only_split = options.split,
                                        .seed = options.random_seed,
                                        .threads = options.seed.workers});
  const std::vector<data::Sample> samples = dataset.samples(options.split);
  const auto files = files_by_name(
      source, masks ? std::vector<std::string>{".png"} : std::vector<std::string>{".npy", ".safetensors"});
  nlohmann::ordered_json json = {{"imported", masks ? "masks" : "cams"},
                                 {"source", source.string()},
                                 {"refine", seed::to_string(options.seed.refine.chain)},
                                 {"only_tags", options.only_tags}};
  if (!masks) {
    json["background"] = seed::to_string(options.seed.background);
    json["cam_first"] = options.cam_first;
  } else if (!options.seed.refine.chain.empty()) {
    json["confidence"] = options.confidence;
  }
  if (options.seed.refine.has(seed::Refinement::kCrf)) json["crf"] = crf_json(options.crf, options.seed.refine.crf);
  data::SeedWriter writer(options.out, {.made_by = options.command,
                                        .data = options.data.string(),
                                        .split = options.split,
                                        .classes = dataset.classes,
                                        .options = json.dump()});
  const Importer importer(options, dataset.classes);
  Progress progress("import", static_cast<int64_t>(samples.size()));
  std::vector<std::string> ids;
  for (const data::Sample& sample : samples) ids.push_back(sample.id);
  parallel_for(static_cast<int64_t>(samples.size()), options.seed.workers, [&](int64_t i) {
    const data::Sample& sample = samples[static_cast<size_t>(i)];
    progress.advance();
    if (writer.has(sample.id)) return;
    auto file = files.find(sample.id);
    if (file == files.end()) file = files.find(Path(sample.id).filename().string());
    if (file == files.end()) {
      writer.skip(sample.id, "no file of that name in " + source.string());
      return;
    }
    try {
      writer.write(sample.id,
                   masks ? importer.from_mask(sample, file->second) : importer.from_cams(sample, file->second));
    } catch (const Error& problem) {
      log_warning("skipped {}", problem.what());
      writer.skip(sample.id, problem.what());
    }
  });
  progress.finish();
  const data::SeedFacts facts = writer.finish(ids, options.seed.workers);
  if (facts.images == 0) {
    throw Error("{}: not one of {} photos of split {} got a seed; the first: {}", source.string(), samples.size(),
                options.split, facts.skipped.begin()->second);
  }
  return facts;
}

}  // namespace crisp::flow
