#include <algorithm>
#include <map>
#include <set>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/data/lists.h"
#include "crisp/data/readers.h"
#include "crisp/data/splits.h"
#include "crisp/data/tags.h"
#include "crisp/data/xml.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

// Public lists repeat an image (train is part of train_aug): the same line in several files is read once.
void tags_from_files(const Path& folder, const NameIndex& names, Dataset& dataset) {
  if (!fs::is_directory(folder)) return;
  std::set<std::string> missing;
  for (const Path& path : list_files(folder, {".txt"})) {
    apply_tags(parse_tag_text(path), path, names, dataset);
  }
  std::vector<std::string>& without = dataset.findings.tags_without_image;
  missing.insert(without.begin(), without.end());
  without.assign(missing.begin(), missing.end());
}

void tags_from_xml(const Path& folder, Dataset& dataset) {
  for (Sample& sample : dataset.all) {
    const Path path = folder / (sample.id + ".xml");
    if (sample.has_tags || !fs::is_regular_file(path)) continue;
    try {
      std::vector<int> classes;
      for (const std::string& name : object_names(path.string(), read_text(path))) {
        if (const auto number = class_of(name, dataset.classes)) {
          classes.push_back(*number);
        } else {
          dataset.findings.unknown_tags.push_back(fmt::format("{}: '{}'", path.filename().string(), name));
        }
      }
      tag_sample(sample, std::move(classes));
    } catch (const Error& error) {
      dataset.findings.bad_lists.push_back(error.what());
    }
  }
}

}  // namespace

std::optional<Path> find_voc(const Path& root) {
  if (fs::is_directory(root / "JPEGImages")) return root;
  for (const Path& parent : {root, root / "VOCdevkit"}) {
    if (!fs::is_directory(parent)) continue;
    std::vector<Path> years;
    for (const auto& entry : fs::directory_iterator(parent)) {
      const bool named = entry.path().filename().string().starts_with("VOC20");
      if (named && fs::is_directory(entry.path() / "JPEGImages")) years.push_back(entry.path());
    }
    std::sort(years.begin(), years.end());
    if (years.size() > 1) {
      throw Error("{}: holds {} and {}: name the one meant", root.string(), years[0].filename().string(),
                  years[1].filename().string());
    }
    if (years.size() == 1) return years[0];
  }
  return std::nullopt;
}

Dataset open_voc(const Path& root, const OpenOptions& options) {
  Dataset dataset;
  dataset.kind = DatasetKind::kVoc;
  dataset.root = root;
  dataset.all = list_samples(root / "JPEGImages");
  if (dataset.all.empty()) throw Error("{}: no image", (root / "JPEGImages").string());
  const Path classes = root / "classes.txt";
  dataset.classes = fs::is_regular_file(classes) ? read_classes(classes.string()) : voc_classes();
  for (Sample& sample : dataset.all) {
    for (const char* folder : {"SegmentationClass", "SegmentationClassAug"}) {
      const Path mask = root / folder / (sample.id + ".png");
      if (!sample.mask && fs::is_regular_file(mask)) sample.mask = mask;
    }
  }
  const NameIndex names(ids_of(dataset.all));
  const TagSource from = options.tags_from;
  if (from == TagSource::kMasks) tags_from_masks(dataset, options.threads);
  if (from == TagSource::kAuto || from == TagSource::kFiles) tags_from_files(root / "tags", names, dataset);
  if (from == TagSource::kAuto || from == TagSource::kXml) tags_from_xml(root / "Annotations", dataset);
  const Path lists = root / "ImageSets" / "Segmentation";
  if (fs::is_directory(lists)) read_splits(lists, names, dataset);
  if (dataset.splits.empty()) hold_out(options.hold_out, options.seed, dataset);
  return dataset;
}

}  // namespace crisp::data
