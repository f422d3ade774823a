#pragma once

#include <optional>

#include "crisp/data/dataset.h"

namespace crisp::data {

// The three layouts behind open_dataset. `find_voc` gives the folder that holds JPEGImages.
std::optional<Path> find_voc(const Path& root);
bool is_coco(const Path& root);
bool is_folder(const Path& root);

Dataset open_voc(const Path& root, const OpenOptions& options);
Dataset open_coco(const Path& root, const OpenOptions& options);
Dataset open_folder(const Path& root, const OpenOptions& options);

// A sample for every image below `folder`, id = path below it without extension; two images of one id are
// an error that names both.
std::vector<Sample> list_samples(const Path& folder);
std::vector<std::string> ids_of(const std::vector<Sample>& samples);

}  // namespace crisp::data
