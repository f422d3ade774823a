#include "crisp/data/splits.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "crisp/base/text.h"

namespace crisp::data {
namespace {

uint64_t hash_text(const std::string& text) {
  uint64_t hash = text.size();
  for (const char c : text) hash = mix_bits(hash ^ static_cast<unsigned char>(c));
  return hash;
}

size_t find_line(const std::string& line, const NameIndex& names) {
  if (const size_t whole = names.find(line); whole != NameIndex::kNone) return whole;
  return names.find(split_words(line)[0]);
}

}  // namespace

void read_splits(const Path& folder, const NameIndex& names, Dataset& dataset) {
  for (const Path& list : list_files(folder, {".txt"})) {
    std::string name = list.lexically_relative(folder).replace_extension().string();
    std::vector<size_t> members;
    std::set<size_t> seen;
    for (const std::string& line : parse_names(list)) {
      size_t place = NameIndex::kNone;
      try {
        place = find_line(line, names);
      } catch (const Error& error) {
        throw Error("{}: {}", list.string(), error.what());
      }
      if (place == NameIndex::kNone) {
        dataset.findings.split_without_image.push_back(fmt::format("{}: {}", name, line));
      } else if (!seen.insert(place).second) {
        dataset.findings.listed_twice.push_back(fmt::format("{}: {}", name, line));
      } else {
        members.push_back(place);
      }
    }
    dataset.splits[std::move(name)] = std::move(members);
  }
}

void hold_out(double share, uint64_t seed, Dataset& dataset) {
  const size_t count = dataset.all.size();
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < count; ++i) order.emplace_back(derive_seed(seed, hash_text(dataset.all[i].id)), i);
  std::sort(order.begin(), order.end());
  const auto wanted = static_cast<size_t>(std::llround(share * static_cast<double>(count)));
  const size_t held = count < 2 ? count : std::clamp<size_t>(wanted, 1, count - 1);
  std::vector<size_t> train, val;
  for (size_t i = 0; i < count; ++i) (i < held ? val : train).push_back(order[i].second);
  if (train.empty()) train = val;
  std::sort(train.begin(), train.end());
  std::sort(val.begin(), val.end());
  dataset.splits["train"] = std::move(train);
  dataset.splits["val"] = std::move(val);
  dataset.made_splits = true;
}

}  // namespace crisp::data
