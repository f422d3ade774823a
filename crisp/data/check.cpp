#include "crisp/data/check.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/progress.h"
#include "crisp/base/random.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"

namespace crisp::data {
namespace {

// What one sample's files say.
struct Look {
  int width = 0, height = 0;
  uint64_t bytes_hash = 0;
  std::array<int64_t, 256> pixels{};
  bool has_mask = false;
  std::vector<std::string> unreadable;
  std::string size_differs;
};

uint64_t hash_bytes(std::span<const std::byte> bytes) {
  uint64_t hash = bytes.size();
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001B3ull;
  return mix_bits(hash);
}

void look_at_image(const Sample& sample, bool decode, Look& look) {
  try {
    const MappedFile file(sample.image);
    look.bytes_hash = hash_bytes(file.bytes());
    const auto size = image::decode_size(file.bytes(), sample.image.string());
    if (decode) image::decode_image(file.bytes(), sample.image.string());
    look.width = size.width;
    look.height = size.height;
  } catch (const Error& error) {
    look.unreadable.push_back(error.what());
  }
}

void look_at_mask(const Dataset& dataset, const Sample& sample, Look& look) {
  try {
    const image::Mask mask = dataset.read_mask(sample);
    for (const uint8_t label : mask.labels) ++look.pixels[label];
    look.has_mask = true;
    if (look.width > 0 && (mask.width != look.width || mask.height != look.height)) {
      look.size_differs =
          fmt::format("{}: image {}x{}, mask {}x{}", sample.id, look.width, look.height, mask.width, mask.height);
    }
  } catch (const Error& error) {
    look.unreadable.push_back(error.what());
  }
}

CheckReport::Range range_of(std::vector<int> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

void count_splits(const Dataset& dataset, CheckReport& report) {
  for (const auto& [name, members] : dataset.splits) {
    CheckReport::Split split{name, members.size(), 0, 0, std::vector<size_t>(dataset.classes.size())};
    for (const size_t place : members) {
      const Sample& sample = dataset.all[place];
      split.masked += sample.has_mask() ? 1 : 0;
      if (!sample.has_tags) continue;
      ++split.tagged;
      if (sample.tags.empty()) ++split.tagged_with[0];
      for (const int tag : sample.tags) ++split.tagged_with[static_cast<size_t>(tag)];
    }
    if (members.empty()) report.empty_splits.push_back(name);
    report.splits.push_back(std::move(split));
  }
  const auto train = dataset.splits.find("train"), val = dataset.splits.find("val");
  if (train == dataset.splits.end() || val == dataset.splits.end()) return;
  const std::set<size_t> trained(train->second.begin(), train->second.end());
  for (const size_t place : val->second) {
    if (trained.contains(place)) report.in_train_and_val.push_back(dataset.all[place].id);
  }
}

void compare_tags(const Dataset& dataset, const Sample& sample, const Look& look, CheckReport& report) {
  if (!sample.has_tags || !look.has_mask) return;
  ++report.compared;
  for (size_t label = 1; label < dataset.classes.size(); ++label) {
    const bool tagged = std::binary_search(sample.tags.begin(), sample.tags.end(), static_cast<int>(label));
    if (tagged == (look.pixels[label] > 0)) continue;
    (tagged ? report.not_in_mask : report.not_in_tags)
        .push_back(fmt::format("{}: {}", sample.id, dataset.classes[label]));
  }
}

}  // namespace

CheckReport check(const Dataset& dataset, const CheckOptions& options) {
  std::vector<Look> looks(dataset.all.size());
  Progress progress("check", static_cast<int64_t>(looks.size()));
  parallel_for(static_cast<int64_t>(looks.size()), options.threads, [&](int64_t i) {
    const Sample& sample = dataset.all[static_cast<size_t>(i)];
    Look& look = looks[static_cast<size_t>(i)];
    look_at_image(sample, options.decode, look);
    if (sample.has_mask()) look_at_mask(dataset, sample, look);
    progress.advance();
  });
  progress.finish();

  CheckReport report;
  report.kind = dataset.kind;
  report.root = dataset.root;
  report.classes = dataset.classes;
  report.images = dataset.all.size();
  report.findings = dataset.findings;
  report.mask_pixels.resize(dataset.classes.size());
  count_splits(dataset, report);
  std::vector<int> widths, heights;
  std::vector<bool> ever_tagged(dataset.classes.size());
  std::unordered_map<uint64_t, size_t> first_of;
  for (size_t i = 0; i < looks.size(); ++i) {
    const Sample& sample = dataset.all[i];
    const Look& look = looks[i];
    report.tagged += sample.has_tags ? 1 : 0;
    report.masked += sample.has_mask() ? 1 : 0;
    for (const int tag : sample.tags) ever_tagged[static_cast<size_t>(tag)] = true;
    report.unreadable.insert(report.unreadable.end(), look.unreadable.begin(), look.unreadable.end());
    if (!look.size_differs.empty()) report.size_differs.push_back(look.size_differs);
    if (look.width > 0) {
      widths.push_back(look.width);
      heights.push_back(look.height);
      if (const auto [first, fresh] = first_of.emplace(look.bytes_hash, i); !fresh) {
        report.same_photo.push_back(fmt::format("{} = {}", dataset.all[first->second].id, sample.id));
      }
    }
    for (size_t label = 0; label < dataset.classes.size(); ++label) report.mask_pixels[label] += look.pixels[label];
    report.ignored_pixels += look.pixels[image::kIgnore];
    compare_tags(dataset, sample, look, report);
  }
  report.width = range_of(std::move(widths));
  report.height = range_of(std::move(heights));
  report.nothing_known = report.tagged == 0 && report.masked == 0;
  if (report.tagged > 0) {
    for (const Sample& sample : dataset.all) {
      if (!sample.has_tags) report.untagged.push_back(sample.id);
    }
    for (size_t label = 1; label < dataset.classes.size(); ++label) {
      if (!ever_tagged[label]) report.never_tagged.push_back(dataset.classes[label]);
    }
  }
  return report;
}

}  // namespace crisp::data
