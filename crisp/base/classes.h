#pragma once

#include <string>
#include <vector>

namespace crisp {

// The names of classes 0, 1, 2, ...; class 0 is the background.
using ClassNames = std::vector<std::string>;

// What class 0 is called where every pixel belongs to one of the others: then it is reserved and never predicted.
inline constexpr const char* kNoBackground = "background: none";
bool has_background(const ClassNames& classes);

// The labels that pixels of a photo with these tags may have, ascending.
std::vector<int> allowed_labels(const std::vector<int>& tags, bool background);

// What `--classes` takes: a number (then "background", "class 1", ...), the word "voc", or a file with a
// name a line, line 0 being the background. An empty line or a name given twice is an error that says where.
ClassNames read_classes(const std::string& number_or_file);

const ClassNames& voc_classes();  // 21 names of PASCAL VOC

}  // namespace crisp
