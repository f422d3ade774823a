#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/data/dataset.h"
#include "crisp/data/matching.h"
#include "crisp/image/decode.h"

namespace crisp::flow {

// What predictions are measured against: masks by name, wherever they come from, and the photos they belong to.
struct Truth {
  ClassNames classes;
  std::vector<data::NamedMask> masks;  // the path names the file in messages
  std::vector<Path> photos;            // one for each mask; empty where none is known
  std::vector<std::string> without_mask;
  std::vector<std::string> notes;  // choices that affect a number, in words

  // The mask in place `index`. Safe from several threads.
  std::function<image::Mask(size_t index)> read;
};

// PNG masks of a folder, those that `list` names where it is given.
Truth truth_from_folder(const Path& folder, const ClassNames& classes, const std::optional<Path>& list,
                        const image::MaskReading& reading);

// Masks rasterised from COCO's `instances_*.json`. `classes`, where given, must be as many as the categories.
Truth truth_from_instances(const Path& file, const std::optional<ClassNames>& classes, const std::optional<Path>& list,
                           const data::RasteriseOptions& how);

// The masks and photos of a split. Photos without a mask are listed in `without_mask`; Error when all are.
Truth truth_from_dataset(data::Dataset dataset, const std::string& split);

// Looks for the photo of each mask in a folder, by name. Error when none is found.
void add_photos(Truth& truth, const Path& folder);

}  // namespace crisp::flow
