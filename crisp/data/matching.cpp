#include "crisp/data/matching.h"

#include <map>
#include <set>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/data/lists.h"

namespace crisp::data {
namespace fs = std::filesystem;

namespace {

std::string stem_of(const std::string& name) { return Path(name).filename().string(); }

std::multimap<std::string, size_t> by_stem(const std::vector<NamedMask>& masks) {
  std::multimap<std::string, size_t> places;
  for (size_t i = 0; i < masks.size(); ++i) places.emplace(stem_of(masks[i].name), i);
  return places;
}

// The only mask of that stem; none where there is none. Several are an error.
std::optional<size_t> only_one(const std::multimap<std::string, size_t>& places, const std::string& stem,
                               const std::vector<NamedMask>& masks, const std::string& wanted) {
  const auto [first, last] = places.equal_range(stem);
  if (first == last) return std::nullopt;
  if (std::next(first) != last) {
    throw Error("'{}' fits several masks: {} and {}", wanted, masks[first->second].path.string(),
                masks[std::next(first)->second].path.string());
  }
  return first->second;
}

}  // namespace

std::vector<NamedMask> list_masks(const Path& folder) {
  if (!fs::is_directory(folder)) throw Error("{}: no such folder of masks", folder.string());
  const bool is_seeds = fs::is_regular_file(folder / "seeds.json") && fs::is_directory(folder / "labels");
  const Path base = is_seeds ? folder / "labels" : folder;
  std::vector<NamedMask> masks;
  std::map<std::string, Path> seen;
  for (const Path& path : list_files(base, {".png"})) {
    const std::string name = strip_image_extension(path.lexically_relative(base).generic_string());
    if (const auto [other, fresh] = seen.emplace(name, path); !fresh) {
      throw Error("{}: two masks of one name: {} and {}", base.string(), other->second.filename().string(),
                  path.filename().string());
    }
    masks.push_back({name, path});
  }
  if (masks.empty()) throw Error("{}: no .png mask in this folder or below it", base.string());
  return masks;
}

std::vector<NamedMask> select_masks(const std::vector<NamedMask>& masks, const Path& list) {
  std::vector<std::string> names;
  for (const NamedMask& mask : masks) names.push_back(mask.name);
  const NameIndex index(names);
  std::vector<NamedMask> chosen;
  std::vector<std::string> missing;
  std::set<size_t> seen;
  for (const std::string& line : parse_names(list)) {
    size_t place = NameIndex::kNone;
    try {
      place = index.find(line);
      if (place == NameIndex::kNone) place = index.find(split_words(line)[0]);
    } catch (const Error& error) {
      throw Error("{}: {}", list.string(), error.what());
    }
    if (place == NameIndex::kNone) {
      missing.push_back(line);
    } else if (!seen.insert(place).second) {
      throw Error("{}: '{}' is listed twice", list.string(), line);
    } else {
      chosen.push_back(masks[place]);
    }
  }
  if (!missing.empty()) {
    throw Error("{}: {} name(s) without a truth mask: {}", list.string(), missing.size(), join_some(missing));
  }
  if (chosen.empty()) throw Error("{}: the list is empty: one name a line", list.string());
  return chosen;
}

MatchResult match_masks(const std::vector<NamedMask>& truth, const std::vector<NamedMask>& predictions) {
  std::map<std::string, size_t> by_name;
  for (size_t i = 0; i < predictions.size(); ++i) by_name.emplace(predictions[i].name, i);
  const auto prediction_stems = by_stem(predictions), truth_stems = by_stem(truth);
  MatchResult result;
  std::set<size_t> used;
  for (const NamedMask& mask : truth) {
    std::optional<size_t> place;
    if (const auto exact = by_name.find(mask.name); exact != by_name.end()) {
      place = exact->second;
    } else {
      place = only_one(prediction_stems, stem_of(mask.name), predictions, mask.name);
      if (place) only_one(truth_stems, stem_of(mask.name), truth, predictions[*place].name);
    }
    if (place) used.insert(*place);
    if (!place) result.missing.push_back(mask.name);
    result.pairs.push_back({mask.name, mask.path, place ? predictions[*place].path : Path()});
  }
  for (size_t i = 0; i < predictions.size(); ++i) {
    if (!used.contains(i)) result.unmatched.push_back(predictions[i].name);
  }
  return result;
}

MatchResult match_folders(const Path& predictions, const Path& truth, const std::optional<Path>& list,
                          bool allow_missing) {
  std::vector<NamedMask> wanted = list_masks(truth);
  if (list) wanted = select_masks(wanted, *list);
  MatchResult result = match_masks(wanted, list_masks(predictions));
  if (result.missing.size() == wanted.size()) {
    throw Error("{}: none of its {} mask(s) has the name of a truth mask in {} (such as '{}')", predictions.string(),
                result.unmatched.size(), truth.string(), wanted[0].name);
  }
  if (!result.missing.empty() && !allow_missing) {
    throw Error("{}: {} of {} predictions are missing: {}", predictions.string(), result.missing.size(), wanted.size(),
                join_some(result.missing));
  }
  return result;
}

}  // namespace crisp::data
