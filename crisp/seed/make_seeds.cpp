#include "crisp/seed/make_seeds.h"

#include <algorithm>
#include <chrono>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/progress.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "crisp/image/resize.h"
#include "crisp/infer/photo_stream.h"
#include "crisp/infer/size_order.h"
#include "crisp/ops/affinity_walk.h"
#include "crisp/tensor/safetensors.h"

namespace crisp::seed {
namespace {

struct Maps {
  Cams cams;
  AffinityFeatures features;
};

void write_cams(const Path& file, const Cams& cams) {
  make_folder(file.parent_path());
  tensor::StateDict maps;
  for (size_t k = 0; k < cams.classes.size(); ++k) {
    maps[std::to_string(cams.classes[k])] =
        torch::from_blob(const_cast<float*>(cams.maps.data()) + k * cams.pixels(), {cams.height, cams.width})
            .to(torch::kHalf);
  }
  tensor::write_safetensors(file, maps);
}

data::Seed confident_seed(const image::Image& photo, const Cams& cams, const SeedOptions& options) {
  const auto labels = [&](const Background& background) {
    return best_labels(refined(photo, cams, {}, background, options.refine));
  };
  data::Seed seed{image::Mask(photo.width, photo.height), image::Mask(photo.width, photo.height)};
  seed.labels.labels =
      ops::confident_labels(labels(options.sure_object).labels, labels(options.sure_background).labels);
  return seed;
}

}  // namespace

Untagged parse_untagged(const std::string& name) {
  if (name == "skip") return Untagged::kSkip;
  if (name == "background") return Untagged::kBackground;
  throw UsageError("--untagged {}: it is skip or background", name);
}

void check(const SeedOptions& options) {
  if (options.max_side < 32) throw UsageError("--max-side {}: at least 32 pixels", options.max_side);
  if (options.batch < 1) throw UsageError("--batch {}: at least one", options.batch);
}

SeedPhotos photos_for_seeds(const std::vector<data::Sample>& samples, Untagged untagged, bool background) {
  if (!background && untagged == Untagged::kBackground) {
    throw UsageError("--untagged background: the data set has no background; use skip");
  }
  SeedPhotos photos;
  std::vector<data::Sample> taken;
  for (const data::Sample& sample : samples) {
    const bool known = background ? sample.has_tags : !sample.tags.empty();
    if (!known && untagged == Untagged::kSkip) {
      ++photos.untagged;
      continue;
    }
    taken.push_back(sample);
  }
  photos.samples = infer::in_size_order(taken);
  return photos;
}

image::Image working_size(image::Image photo, int max_side) {
  const int longest = std::max(photo.width, photo.height);
  if (longest <= max_side) return photo;
  const auto side = [&](int size) {
    return std::max(1, static_cast<int>(std::lround(static_cast<double>(size) * max_side / longest)));
  };
  return image::resize(photo, side(photo.width), side(photo.height));
}

data::Seed make_seed(const image::Image& photo, const Cams& cams, const AffinityFeatures& features,
                     const SeedOptions& options) {
  if (options.confident) return confident_seed(photo, cams, options);
  return to_seed(refined(photo, cams, features, options.background, options.refine));
}

std::optional<data::SeedFacts> make_seeds(CamMaker& maker, AffinityMaker* affinity, const SeedPhotos& photos,
                                          const SeedOptions& options, data::SeedFacts facts, const Path& out) {
  check(options);
  if (options.refine.has(Refinement::kAffinity) && affinity == nullptr) {
    throw Error("refinement by affinity needs an affinity network");
  }
  data::SeedWriter writer(out, std::move(facts));
  writer.count_untagged(photos.untagged);
  std::vector<const data::Sample*> open;
  std::vector<std::string> ids;
  for (const data::Sample& sample : photos.samples) {
    ids.push_back(sample.id);
    if (!writer.has(sample.id)) open.push_back(&sample);
  }
  if (open.size() < ids.size()) log_info("{} of {} seeds are there already", ids.size() - open.size(), ids.size());

  using Clock = std::chrono::steady_clock;
  double network_seconds = 0;
  const auto start = Clock::now();
  Progress progress("seeds", static_cast<int64_t>(open.size()));
  std::vector<image::ImageSize> sizes(open.size());  // before shrinking
  infer::PhotoStages<Maps, size_t> stages;
  stages.read = [&](size_t index) {
    image::Image photo = image::read_image(open[index]->image);
    sizes[index] = {photo.width, photo.height};
    return working_size(std::move(photo), options.max_side);
  };
  stages.network = [&](const std::vector<infer::Photo>& group) {
    const auto begin = Clock::now();
    std::vector<image::Image> images;
    std::vector<Path> files;
    std::vector<std::vector<int>> tags;
    for (const infer::Photo& photo : group) {
      images.push_back(photo.image);
      files.push_back(open[photo.index]->image);
      tags.push_back(open[photo.index]->tags);
    }
    std::vector<Cams> cams = maker.run(images, tags, files);
    std::vector<AffinityFeatures> features(group.size());
    if (affinity != nullptr) features = affinity->run(images);
    std::vector<Maps> maps;
    for (size_t i = 0; i < group.size(); ++i) maps.push_back({std::move(cams[i]), std::move(features[i])});
    network_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    return maps;
  };
  stages.finish = [&](const infer::Photo& photo, Maps& maps) {
    const std::string& id = open[photo.index]->id;
    data::Seed seed = make_seed(photo.image, maps.cams, maps.features, options);
    const image::ImageSize size = sizes[photo.index];
    if (size.width != photo.image.width || size.height != photo.image.height) {
      seed.labels = image::resize_nearest(seed.labels, size.width, size.height);
      seed.uncertainty = image::resize_nearest(seed.uncertainty, size.width, size.height);
    }
    if (options.keep_cams) write_cams(out / "cams" / (id + ".safetensors"), maps.cams);
    writer.write(id, seed);
    return photo.index;
  };
  stages.done = [&](size_t index) { progress.advance(1, open[index]->id); };
  stages.unreadable = [&](size_t index, const std::string& problem) {
    log_warning("skipped {}", problem);
    writer.skip(open[index]->id, problem);
    progress.advance();
  };
  infer::stream_photos(open.size(), {.workers = options.workers, .batch = options.batch, .stop = options.stop}, stages);
  progress.finish();
  if (options.stop && options.stop()) return std::nullopt;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const data::SeedFacts& done = writer.finish(ids, options.workers);
  if (done.images == 0) throw Error("{}: not one of {} photos could be read", out.string(), ids.size());
  if (!open.empty()) {
    log_info("{} seeds in {}, {:.1f} a second; the network took {:.0f}% of the time", open.size(),
             format_duration(seconds), static_cast<double>(open.size()) / seconds, 100 * network_seconds / seconds);
  }
  return done;
}

}  // namespace crisp::seed
