#include "crisp/data/coco.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "crisp/base/error.h"
#include "crisp/data/json_scan.h"

namespace crisp::data {
namespace {

using Json = nlohmann::json;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// A value for a message; lists are only named, as they may be long and deep.
std::string shown(const Json& value) { return value.is_structured() ? value.type_name() : value.dump().substr(0, 40); }

double coordinate(const Json& value) {
  if (!value.is_number()) throw Error("a coordinate is {}, a number is due", shown(value));
  const double number = value.get<double>();
  if (!(std::abs(number) <= kFarthest)) throw Error("coordinate {} is too far from the image", number);
  return number;
}

Runs polygon(const Json& list, int width, int height) {
  if (!list.is_array() || list.size() < 6 || list.size() % 2 != 0) {
    throw Error("a polygon is x, y, x, y, ... with at least three points; this is {} of {}", list.type_name(),
                list.size());
  }
  std::vector<double> xy;
  for (const Json& value : list) xy.push_back(coordinate(value));
  return polygon_runs(xy, width, height);
}

// {"size": [height, width], "counts": text or list}
Runs run_lengths(const Json& object, int width, int height) {
  if (!object.contains("counts")) throw Error("run lengths without 'counts'");
  const Json& counts = object["counts"];
  if (object.contains("size") && object["size"] != Json::array({height, width})) {
    throw Error("run lengths of another size than the image, which is [{},{}] (height, width)", height, width);
  }
  Runs runs;
  if (counts.is_string()) {
    runs = decode_runs(counts.get_ref<const std::string&>());
  } else if (counts.is_array()) {
    for (const Json& value : counts) {
      if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
        throw Error("a run length is {}, a whole number is due", shown(value));
      }
      runs.push_back(value.get<uint32_t>());
    }
  } else {
    throw Error("'counts' is neither a text nor a list");
  }
  check_runs(runs, width, height);
  return runs;
}

}  // namespace

// One object of each list; unknown keys are skipped, missing ones are errors that say where.
struct CocoFile::Reader {
  JsonScan scan;
  CocoFile& file;
  std::vector<std::pair<int64_t, std::string>> categories;
  bool has_images = false, has_annotations = false, has_categories = false;

  void need(bool there, std::string_view what) {
    if (!there) scan.fail(fmt::format("{} is missing", what));
  }

  void image() {
    Image image;
    bool has_id = false;
    scan.begin_object();
    for (std::string key; scan.next_key(key);) {
      if (key == "id") {
        image.id = scan.integer();
        has_id = true;
      } else if (key == "file_name") {
        image.file_name = scan.string();
      } else if (key == "width" || key == "height") {
        const int64_t side = scan.integer();
        if (side < 1 || side > 65535) scan.fail(fmt::format("{} is {}", key, side));
        (key == "width" ? image.width : image.height) = static_cast<int>(side);
      } else {
        scan.skip();
      }
    }
    need(has_id && !image.file_name.empty() && image.width > 0 && image.height > 0,
         "id, file_name, width or height of an image");
    file.images_.push_back(std::move(image));
  }

  void annotation() {
    Annotation note;
    int found = 0;
    scan.begin_object();
    for (std::string key; scan.next_key(key);) {
      if (key == "id") {
        note.id = scan.integer();
      } else if (key == "image_id") {
        note.image = scan.integer();
        ++found;
      } else if (key == "category_id") {
        note.category = scan.integer();
        ++found;
      } else if (key == "iscrowd") {
        note.crowd = scan.integer() != 0;
      } else if (key == "segmentation") {
        const std::string_view outline = scan.skip();
        note.offset = static_cast<size_t>(outline.data() - text_of(file.file_).data());
        note.length = outline.size();
      } else {
        scan.skip();
      }
    }
    need(found == 2, "image_id or category_id of an annotation");
    file.annotations_.push_back(note);
  }

  void category() {
    std::pair<int64_t, std::string> entry;
    bool has_id = false;
    scan.begin_object();
    for (std::string key; scan.next_key(key);) {
      if (key == "id") {
        entry.first = scan.integer();
        has_id = true;
      } else if (key == "name") {
        entry.second = scan.string();
      } else {
        scan.skip();
      }
    }
    need(has_id && !entry.second.empty(), "id or name of a category");
    categories.push_back(std::move(entry));
  }

  template <typename Read>
  void list(bool& seen, Read read) {
    seen = true;
    scan.begin_array();
    while (scan.next_item()) (this->*read)();
  }

  void run() {
    scan.begin_object();
    for (std::string key; scan.next_key(key);) {
      if (key == "images") {
        list(has_images, &Reader::image);
      } else if (key == "annotations") {
        list(has_annotations, &Reader::annotation);
      } else if (key == "categories") {
        list(has_categories, &Reader::category);
      } else {
        scan.skip();
      }
    }
    scan.finish();
    need(has_images, "the list 'images'");
    need(has_annotations, "the list 'annotations'");
    need(has_categories, "the list 'categories'");
  }
};

CocoFile::CocoFile(const Path& path) : path_(path), file_(path) {
  Reader reader{JsonScan(path.string(), text_of(file_)), *this, {}};
  reader.run();
  number_classes(reader.categories);
  sort_annotations();
}

void CocoFile::number_classes(const std::vector<std::pair<int64_t, std::string>>& categories) {
  auto sorted = categories;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || sorted.size() > 254) {
    throw Error("{}: {} categories: 1 to 254 fit an 8-bit mask", path_.string(), sorted.size());
  }
  classes_ = {"background"};
  std::unordered_map<int64_t, int64_t> number;
  for (const auto& [id, name] : sorted) {
    if (!number.emplace(id, static_cast<int64_t>(classes_.size())).second) {
      throw Error("{}: two categories have the id {}", path_.string(), id);
    }
    if (std::find(classes_.begin(), classes_.end(), name) != classes_.end()) {
      throw Error("{}: two categories have the name '{}'", path_.string(), name);
    }
    classes_.push_back(name);
  }
  for (Annotation& note : annotations_) {
    const auto found = number.find(note.category);
    if (found == number.end()) {
      throw Error("{}: annotation {} has category {}, which 'categories' does not list", path_.string(), note.id,
                  note.category);
    }
    note.category = found->second;
  }
}

void CocoFile::sort_annotations() {
  std::unordered_map<int64_t, size_t> place;
  for (size_t i = 0; i < images_.size(); ++i) {
    if (!place.emplace(images_[i].id, i).second) {
      throw Error("{}: two images have the id {}", path_.string(), images_[i].id);
    }
  }
  for (Annotation& note : annotations_) {
    const auto found = place.find(note.image);
    if (found == place.end()) {
      throw Error("{}: annotation {} is of image {}, which 'images' does not list", path_.string(), note.id,
                  note.image);
    }
    note.image = static_cast<int64_t>(found->second);
    ++images_[found->second].count;
  }
  std::stable_sort(annotations_.begin(), annotations_.end(),
                   [](const Annotation& a, const Annotation& b) { return a.image < b.image; });
  size_t first = 0;
  for (Image& image : images_) {
    image.first = first;
    first += image.count;
  }
}

std::vector<int> CocoFile::tags(size_t image) const {
  const Image& entry = images_.at(image);
  std::set<int> found;
  for (size_t i = 0; i < entry.count; ++i) found.insert(static_cast<int>(annotations_[entry.first + i].category));
  return {found.begin(), found.end()};
}

Region CocoFile::read_region(const Annotation& annotation, const Image& image) const {
  const std::string_view text = text_of(file_).substr(annotation.offset, annotation.length);
  const Json outline = Json::parse(text, nullptr, false);
  if (outline.is_discarded()) throw Error("the outline is not JSON");
  Region region{{}, static_cast<uint8_t>(annotation.category), annotation.crowd};
  if (outline.is_object()) {
    region.parts.push_back(run_lengths(outline, image.width, image.height));
  } else if (outline.is_array() && !outline.empty()) {
    for (const Json& part : outline) region.parts.push_back(polygon(part, image.width, image.height));
  } else {
    throw Error("it has no outline ('segmentation' is empty)");
  }
  return region;
}

std::vector<Region> CocoFile::regions(size_t image) const {
  const Image& entry = images_.at(image);
  std::vector<Region> regions;
  for (size_t i = 0; i < entry.count; ++i) {
    const Annotation& note = annotations_[entry.first + i];
    try {
      regions.push_back(read_region(note, entry));
    } catch (const Error& error) {
      throw Error("{}: annotation {} of {}: {}", path_.string(), note.id, entry.file_name, error.what());
    }
  }
  return regions;
}

image::Mask CocoFile::mask(size_t image, const RasteriseOptions& options) const {
  const Image& entry = images_.at(image);
  return semantic_mask(regions(image), entry.width, entry.height, options);
}

}  // namespace crisp::data
