#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/data/dataset.h"
#include "crisp/data/lists.h"

namespace crisp::data {

// Class number of a tag: the class of that name, else the number it is written as (1 to K-1). 0 stands for
// "background" and means that no class is shown. Nothing when it is neither.
std::optional<int> class_of(const std::string& tag, const ClassNames& classes);

// Whether a line says `background: none` (every pixel belongs to a class); it is taken out.
bool take_no_background(std::vector<TagLine>& lines);

// Class list made from tags: "background" (or that there is none), then the names in byte order; where every tag is a
// number, "class 1" to the highest.
ClassNames classes_from_tags(const std::vector<TagLine>& lines, const Path& source, bool background = true);

// Gives samples the tags of a file's lines. Names without image, unknown tags go to the findings;
// `source` is what messages call the file.
void apply_tags(const std::vector<TagLine>& lines, const Path& source, const NameIndex& names, Dataset& dataset);

// Tags a sample by class numbers, sorted, once each; 0 is dropped.
void tag_sample(Sample& sample, std::vector<int> classes);

// Tags from the labels that occur in each sample's mask (0 and 255 left out); samples without mask keep
// their state.
void tags_from_masks(Dataset& dataset, int threads);

}  // namespace crisp::data
