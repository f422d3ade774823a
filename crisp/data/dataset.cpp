#include "crisp/data/dataset.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/data/lists.h"
#include "crisp/data/readers.h"
#include "crisp/data/tags.h"
#include "crisp/image/decode.h"

namespace crisp::data {
namespace fs = std::filesystem;

std::string to_string(DatasetKind kind) {
  switch (kind) {
    case DatasetKind::kVoc:
      return "VOC";
    case DatasetKind::kCoco:
      return "COCO";
    default:
      return "folder";
  }
}

TagSource parse_tag_source(const std::string& name) {
  if (name == "auto") return TagSource::kAuto;
  if (name == "files") return TagSource::kFiles;
  if (name == "xml") return TagSource::kXml;
  if (name == "masks") return TagSource::kMasks;
  throw UsageError("tags from '{}': auto, files, xml or masks", name);
}

std::vector<Sample> list_samples(const Path& folder) {
  std::vector<Sample> samples;
  for (const Path& path : list_files(folder, image::image_extensions())) {
    Sample sample;
    sample.id = strip_image_extension(path.lexically_relative(folder).generic_string());
    sample.image = path;
    samples.push_back(std::move(sample));
  }
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.id < b.id; });
  for (size_t i = 1; i < samples.size(); ++i) {
    if (samples[i].id == samples[i - 1].id) {
      throw Error("{}: two images of one name: {} and {}; rename or remove one", folder.string(),
                  samples[i - 1].image.filename().string(), samples[i].image.filename().string());
    }
  }
  return samples;
}

std::vector<std::string> ids_of(const std::vector<Sample>& samples) {
  std::vector<std::string> ids;
  for (const Sample& sample : samples) ids.push_back(sample.id);
  return ids;
}

std::string Dataset::resolve_split(const std::string& split) const {
  if (split == "all" || splits.contains(split)) return split;
  std::vector<std::string> names, alike;
  for (const auto& [name, members] : splits) {
    names.push_back(name);
    const std::string rest = name.starts_with(split) ? name.substr(split.size()) : "";
    if (parse_integer(rest)) alike.push_back(name);  // train -> train2017
  }
  if (alike.size() == 1) return alike[0];
  throw Error("{}: no split '{}'; there are: {}, all", root.string(), split, join(names, ", "));
}

std::vector<Sample> Dataset::samples(const std::string& split) const {
  const std::string name = resolve_split(split);
  const auto found = splits.find(name);
  if (found == splits.end()) return all;
  std::vector<Sample> chosen;
  for (const size_t place : found->second) chosen.push_back(all[place]);
  if (chosen.empty()) {
    throw Error("{}: split '{}' is empty: its list names no image that is there", root.string(), name);
  }
  return chosen;
}

image::Mask Dataset::read_mask(const Sample& sample) const {
  if (sample.instances) return instances.at(sample.instances->file)->mask(sample.instances->image, rasterise);
  if (!sample.mask) throw Error("{}: has no mask", sample.id);
  image::Mask mask = image::read_mask(*sample.mask);
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    if (mask.labels[i] >= classes.size() && mask.labels[i] != image::kIgnore) {
      const auto width = static_cast<size_t>(mask.width);
      throw Error("{}: label {} at x {}, y {}: the classes are 0 to {}, and 255 for ignore", sample.mask->string(),
                  mask.labels[i], i % width, i / width, classes.size() - 1);
    }
  }
  return mask;
}

size_t Dataset::set_tags(const std::map<std::string, std::vector<int>>& tags) {
  size_t tagged = 0;
  for (Sample& sample : all) {
    const auto found = tags.find(sample.id);
    sample.tags.clear();
    sample.has_tags = found != tags.end();
    if (!sample.has_tags) continue;
    for (const int label : found->second) {
      if (label < 0 || label >= static_cast<int>(classes.size())) {
        throw Error("{}: tag {} of '{}': the classes are 1 to {}", root.string(), label, sample.id, classes.size() - 1);
      }
    }
    tag_sample(sample, found->second);
    ++tagged;
  }
  return tagged;
}

std::vector<std::string> Dataset::warnings() const {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& names, std::string_view what) {
    if (!names.empty()) lines.push_back(fmt::format("{} {}: {}", names.size(), what, join_some(names, 4)));
  };
  add(findings.bad_lists, "tag files that cannot be read");
  add(findings.unknown_tags, "unknown tags");
  add(findings.tags_without_image, "tags for images that are not there");
  add(findings.split_without_image, "images in split lists that are not there");
  add(findings.listed_twice, "names twice in a split list");
  std::vector<std::string> untagged;
  for (const Sample& sample : all) {
    if (!sample.has_tags) untagged.push_back(sample.id);
  }
  add(untagged, "images without tags");
  return lines;
}

void require_tags(const Dataset& dataset, const std::string& split) {
  const std::vector<Sample> samples = dataset.samples(split);
  if (std::any_of(samples.begin(), samples.end(), [](const Sample& sample) { return sample.has_tags; })) return;
  const char* looked = dataset.kind == DatasetKind::kVoc
                           ? "tags/*.txt and Annotations/*.xml were looked for"
                           : "tags.txt, tags.csv and one sub-folder per tag below images/ were looked for";
  throw Error("{}: no image of split '{}' has tags: {}", dataset.root.string(), split, looked);
}

Dataset open_dataset(const Path& root, const OpenOptions& options) {
  if (!fs::exists(root)) throw Error("{}: no such folder", root.string());
  if (!fs::is_directory(root)) throw Error("{}: is a file, a data set is a folder", root.string());
  Dataset dataset;
  if (const auto voc = find_voc(root)) {
    dataset = open_voc(*voc, options);
  } else if (is_coco(root)) {
    dataset = open_coco(root, options);
  } else if (is_folder(root)) {
    dataset = open_folder(root, options);
  } else {
    throw Error(
        "{}: not a data set: looked for images/ or a sub-folder of images per tag (plain folder), JPEGImages/ "
        "(VOC), annotations/instances_*.json (COCO)",
        root.string());
  }
  if (!options.lenient && !dataset.findings.bad_lists.empty()) throw Error("{}", dataset.findings.bad_lists[0]);
  if (!options.lenient && !dataset.findings.unknown_tags.empty()) {
    throw Error("{}: {} unknown tag(s): {}. Known: {}", root.string(), dataset.findings.unknown_tags.size(),
                join_some(dataset.findings.unknown_tags, 4), join_some(dataset.classes, 12));
  }
  return dataset;
}

}  // namespace crisp::data
