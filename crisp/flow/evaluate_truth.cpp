#include "crisp/flow/evaluate_truth.h"

#include <map>
#include <memory>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/data/coco.h"
#include "crisp/data/lists.h"

namespace crisp::flow {
namespace {

std::string describe(const data::RasteriseOptions& how) {
  return fmt::format("truth: rasterised from COCO instances, {}, crowds {}",
                     how.overlap == data::Overlap::kSmallerOnTop ? "smaller regions on top" : "in file order",
                     how.crowd == data::Crowd::kClass ? "with their class beneath the others" : "ignored");
}

}  // namespace

Truth truth_from_folder(const Path& folder, const ClassNames& classes, const std::optional<Path>& list,
                        const image::MaskReading& reading) {
  Truth truth;
  truth.classes = classes;
  truth.masks = data::list_masks(folder);
  if (list) truth.masks = data::select_masks(truth.masks, *list);
  truth.photos.resize(truth.masks.size());
  truth.read = [masks = truth.masks, reading](size_t index) { return image::read_mask(masks[index].path, reading); };
  return truth;
}

Truth truth_from_instances(const Path& file, const std::optional<ClassNames>& classes, const std::optional<Path>& list,
                           const data::RasteriseOptions& how) {
  const auto coco = std::make_shared<const data::CocoFile>(file);
  Truth truth;
  truth.classes = classes.value_or(coco->classes());
  if (truth.classes.size() != coco->classes().size()) {
    throw Error("{}: {} categories and the background, but --classes gives {} classes", file.string(),
                coco->classes().size() - 1, truth.classes.size());
  }
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < coco->images().size(); ++i) {
    const std::string name = data::strip_image_extension(coco->images()[i].file_name);
    if (!places.emplace(name, i).second) throw Error("{}: two images of one name: '{}'", file.string(), name);
    truth.masks.push_back({name, file});
  }
  if (truth.masks.empty()) throw Error("{}: no image in this file", file.string());
  if (list) truth.masks = data::select_masks(truth.masks, *list);
  truth.photos.resize(truth.masks.size());
  std::vector<size_t> order;
  for (const data::NamedMask& mask : truth.masks) order.push_back(places.at(mask.name));
  truth.notes.push_back(describe(how));
  truth.read = [coco, order, how](size_t index) { return coco->mask(order[index], how); };
  return truth;
}

Truth truth_from_dataset(data::Dataset dataset, const std::string& split) {
  const auto set = std::make_shared<const data::Dataset>(std::move(dataset));
  Truth truth;
  truth.classes = set->classes;
  std::vector<data::Sample> samples;
  for (const data::Sample& sample : set->samples(split)) {
    if (!sample.has_mask()) {
      truth.without_mask.push_back(sample.id);
      continue;
    }
    truth.masks.push_back({sample.id, sample.mask ? *sample.mask : set->instances[sample.instances->file]->path()});
    truth.photos.push_back(sample.image);
    samples.push_back(sample);
  }
  if (samples.empty()) {
    throw Error("{}: none of the {} images of split '{}' has a mask to measure against", set->root.string(),
                truth.without_mask.size(), split);
  }
  if (set->kind == data::DatasetKind::kCoco) truth.notes.push_back(describe(set->rasterise));
  truth.read = [set, samples](size_t index) { return set->read_mask(samples[index]); };
  return truth;
}

void add_photos(Truth& truth, const Path& folder) {
  if (!std::filesystem::is_directory(folder)) throw Error("{}: no such folder of photos", folder.string());
  const std::vector<Path> files = list_files(folder, image::image_extensions());
  std::vector<std::string> names;
  for (const Path& file : files) {
    names.push_back(data::strip_image_extension(file.lexically_relative(folder).generic_string()));
  }
  const data::NameIndex index(names);
  bool any = false;
  for (size_t i = 0; i < truth.masks.size(); ++i) {
    const size_t place = index.find(truth.masks[i].name);
    if (place == data::NameIndex::kNone) continue;
    truth.photos[i] = files[place];
    any = true;
  }
  if (!any) {
    throw Error("{}: none of its {} photo(s) has the name of a mask (such as '{}')", folder.string(), files.size(),
                truth.masks[0].name);
  }
}

}  // namespace crisp::flow
