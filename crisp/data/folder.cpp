#include <algorithm>
#include <map>

#include "crisp/base/error.h"
#include "crisp/data/lists.h"
#include "crisp/data/readers.h"
#include "crisp/data/splits.h"
#include "crisp/data/tags.h"
#include "crisp/image/decode.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

// One sub-folder per tag: only where every image lies in one and, with a class list, some of the folders
// are classes. Otherwise folders are just the way somebody keeps photos.
std::vector<TagLine> lines_from_folders(const std::vector<Sample>& samples, const ClassNames& classes) {
  std::vector<TagLine> lines;
  bool any_class = classes.empty();
  for (const Sample& sample : samples) {
    const size_t slash = sample.id.find('/');
    if (slash == std::string::npos) return {};
    lines.push_back({0, sample.id, {sample.id.substr(0, slash)}});
    any_class = any_class || class_of(lines.back().tags[0], classes);
  }
  return any_class ? lines : std::vector<TagLine>();
}

// masks/ID.png, else masks/STEM.png where the stem is unique.
void attach_masks(const Path& folder, std::vector<Sample>& samples) {
  if (!fs::is_directory(folder)) return;
  std::map<std::string, int> stems;
  for (const Sample& sample : samples) ++stems[Path(sample.id).filename().string()];
  for (Sample& sample : samples) {
    const std::string stem = Path(sample.id).filename().string();
    const Path exact = folder / (sample.id + ".png"), flat = folder / (stem + ".png");
    if (fs::is_regular_file(exact)) {
      sample.mask = exact;
    } else if (stems[stem] == 1 && fs::is_regular_file(flat)) {
      sample.mask = flat;
    }
  }
}

}  // namespace

bool is_folder(const Path& root) {
  if (fs::is_directory(root / "images")) return true;
  // Images right in a sub-folder: a folder that merely holds other data sets is none itself.
  for (const auto& folder : fs::directory_iterator(root)) {
    const std::string name = folder.path().filename().string();
    if (!folder.is_directory() || name.starts_with('.') || name == "masks" || name == "splits") continue;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (file.is_regular_file() && image::is_image_name(file.path())) return true;
    }
  }
  return false;
}

Dataset open_folder(const Path& root, const OpenOptions& options) {
  Dataset dataset;
  dataset.kind = DatasetKind::kFolder;
  dataset.root = root;
  const bool has_images = fs::is_directory(root / "images");
  dataset.all = list_samples(has_images ? root / "images" : root);
  if (!has_images) {  // one sub-folder per tag, right below the root
    std::erase_if(dataset.all, [](const Sample& sample) {
      return sample.id.starts_with("masks/") || sample.id.starts_with("splits/");
    });
  }
  if (dataset.all.empty()) throw Error("{}: no .jpg, .jpeg or .png image below images/", root.string());
  attach_masks(root / "masks", dataset.all);

  const bool has_classes = fs::is_regular_file(root / "classes.txt");
  if (has_classes) dataset.classes = read_classes((root / "classes.txt").string());
  Path source;
  std::vector<TagLine> lines;
  if (fs::is_regular_file(root / "tags.txt")) {
    source = root / "tags.txt";
    lines = parse_tag_text(source);
  } else if (fs::is_regular_file(root / "tags.csv")) {
    source = root / "tags.csv";
    lines = parse_tag_csv(source);
  } else {
    source = root / "images";
    lines = lines_from_folders(dataset.all, dataset.classes);
  }
  const bool background = !take_no_background(lines);
  if (!has_classes) {
    dataset.classes = classes_from_tags(lines, source, background);
  } else if (!background) {
    dataset.classes[0] = kNoBackground;
  }
  const NameIndex names(ids_of(dataset.all));
  if (options.tags_from == TagSource::kXml) {
    throw UsageError("tags from xml: {} is a plain folder, Annotations/*.xml belong to the VOC layout", root.string());
  }
  if (options.tags_from == TagSource::kMasks) {
    if (!has_classes) {
      throw Error("{}: tags from masks need classes.txt (one name a line, the background first)", root.string());
    }
    tags_from_masks(dataset, options.threads);
  } else {
    apply_tags(lines, source, names, dataset);
  }
  if (fs::is_directory(root / "splits")) read_splits(root / "splits", names, dataset);
  if (dataset.splits.empty()) hold_out(options.hold_out, options.seed, dataset);
  return dataset;
}

}  // namespace crisp::data
