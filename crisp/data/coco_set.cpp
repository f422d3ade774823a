#include <algorithm>
#include <map>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/data/lists.h"
#include "crisp/data/readers.h"
#include "crisp/data/tags.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "instances_";

std::vector<Path> instance_files(const Path& root) {
  std::vector<Path> found;
  if (!fs::is_directory(root / "annotations")) return found;
  for (const auto& entry : fs::directory_iterator(root / "annotations")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && lower_extension(name) == ".json") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string split_name(const Path& file) { return file.stem().string().substr(kPrefix.size()); }

// "train" stands for train2017 too.
bool is_named(const std::string& split, const std::string& wanted) {
  if (split == wanted) return true;
  return !wanted.empty() && split.starts_with(wanted) && parse_integer(split.substr(wanted.size()));
}

// train2017/NAME, images/train2017/NAME, images/NAME or NAME below the root; for the splits that people cut
// out of another (minival2014), any folder that has it.
class ImageFinder {
 public:
  ImageFinder(const Path& root, const std::string& split) {
    for (const Path& folder : {root / split, root / "images" / split, root / "images", root}) add(folder);
    for (const auto& entry : fs::directory_iterator(root)) {
      if (entry.is_directory() && entry.path().filename() != "annotations") add(entry.path());
    }
  }

  std::optional<Path> find(const std::string& file_name) const {
    for (const Path& folder : folders_) {
      if (Path path = folder / file_name; fs::is_regular_file(path)) return path;
    }
    return std::nullopt;
  }

 private:
  void add(const Path& folder) {
    if (fs::is_directory(folder)) folders_.push_back(folder);
  }
  std::vector<Path> folders_;
};

}  // namespace

bool is_coco(const Path& root) { return !instance_files(root).empty(); }

Dataset open_coco(const Path& root, const OpenOptions& options) {
  if (options.tags_from == TagSource::kXml || options.tags_from == TagSource::kFiles) {
    throw UsageError("tags from {}: {} is a COCO set, its tags come from the instances",
                     options.tags_from == TagSource::kXml ? "xml" : "files", root.string());
  }
  Dataset dataset;
  dataset.kind = DatasetKind::kCoco;
  dataset.root = root;
  dataset.rasterise = options.rasterise;
  std::map<Path, size_t> by_image;
  std::map<std::string, Path> by_id;
  const std::vector<Path> files = instance_files(root);
  const bool has_wanted = std::any_of(files.begin(), files.end(),
                                      [&](const Path& file) { return is_named(split_name(file), options.only_split); });
  for (const Path& path : files) {
    const std::string split = split_name(path);
    if (has_wanted && !is_named(split, options.only_split)) continue;
    const auto file = std::make_shared<const CocoFile>(path);
    if (dataset.instances.empty()) {
      dataset.classes = file->classes();
    } else if (dataset.classes != file->classes()) {
      throw Error("{}: its categories differ from those of {}: open one of them alone", path.string(),
                  dataset.instances[0]->path().filename().string());
    }
    const ImageFinder finder(root, split);
    std::vector<size_t>& members = dataset.splits[split];
    for (size_t i = 0; i < file->images().size(); ++i) {
      const std::string& file_name = file->images()[i].file_name;
      const auto image = finder.find(file_name);
      if (!image) {
        dataset.findings.split_without_image.push_back(fmt::format("{}: {}", split, file_name));
        continue;
      }
      if (const auto known = by_image.find(*image); known != by_image.end()) {  // val2014 and its part minival
        members.push_back(known->second);
        continue;
      }
      Sample sample;
      sample.id = strip_image_extension(file_name);
      if (by_id.contains(sample.id)) sample.id = split + "/" + sample.id;
      if (const auto [other, fresh] = by_id.emplace(sample.id, *image); !fresh) {
        throw Error("{}: {} and {} share the name '{}'", path.string(), other->second.string(), image->string(),
                    sample.id);
      }
      sample.image = *image;
      sample.instances = Sample::Instances{dataset.instances.size(), i};
      tag_sample(sample, file->tags(i));
      by_image.emplace(*image, dataset.all.size());
      members.push_back(dataset.all.size());
      dataset.all.push_back(std::move(sample));
    }
    dataset.instances.push_back(file);
  }
  if (dataset.all.empty()) {
    throw Error("{}: none of the images in annotations/ is there; they belong into {}/ or images/", root.string(),
                dataset.splits.begin()->first);
  }
  return dataset;
}

}  // namespace crisp::data
