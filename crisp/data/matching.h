#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crisp/base/files.h"

namespace crisp::data {

// A truth mask, by the name it has in lists and reports (path below its folder without extension).
struct NamedMask {
  std::string name;
  Path path;
};

struct MaskPair {
  std::string name;
  Path truth;
  Path prediction;  // empty when there is none
};

struct MatchResult {
  std::vector<MaskPair> pairs;         // one for each truth, in its order
  std::vector<std::string> missing;    // names without a prediction
  std::vector<std::string> unmatched;  // predictions that belong to no truth
};

// The masks (.png) of a folder, sorted by name. Of a seed folder (it has seeds.json) those in labels/. Two
// masks of one name are an error that names both; so is a folder without any.
std::vector<NamedMask> list_masks(const Path& folder);

// Keeps those that a list names (a name a line, with or without folder and extension), in the list's order.
// An empty list, names without truth and names given twice are errors.
std::vector<NamedMask> select_masks(const std::vector<NamedMask>& masks, const Path& list);

// Finds each truth's prediction: by the same path below the folder, else by the same stem, wherever it
// lies. A stem that several predictions or several truths share is an error that names them.
MatchResult match_masks(const std::vector<NamedMask>& truth, const std::vector<NamedMask>& predictions);

// All of it. Throws when predictions are missing, listing names, unless `allow_missing`.
MatchResult match_folders(const Path& predictions, const Path& truth, const std::optional<Path>& list,
                          bool allow_missing = false);

}  // namespace crisp::data
