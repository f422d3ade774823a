#include "crisp/data/seed_folder.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/version.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"

namespace crisp::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "crispformer seeds";
constexpr int kVersion = 1;

Path head_of(const Path& folder) { return folder / "seeds.json"; }

Json to_json(const SeedFacts& facts) {
  Json json = {{"format", kFormat},          {"format_version", kVersion},
               {"complete", facts.complete}, {"made_by", facts.made_by},
               {"version", version()},       {"commit", commit()},
               {"data", facts.data},         {"split", facts.split},
               {"classes", facts.classes},   {"options", Json::parse(facts.options)}};
  if (!facts.complete) return json;
  Json classes = Json::object();
  for (size_t k = 0; k < facts.classes.size(); ++k) {
    classes[facts.classes[k]] = {{"images", facts.class_images[k]}, {"pixels", facts.class_pixels[k]}};
  }
  json["images"] = facts.images;
  json["counts"] = classes;
  json["ignored_pixels"] = facts.ignored_pixels;
  json["untagged"] = facts.untagged;
  json["skipped"] = facts.skipped;
  return json;
}

SeedFacts read_facts(const Path& folder) {
  const Path file = head_of(folder);
  if (!std::filesystem::exists(file)) {
    throw Error("{}: no seeds.json in it, so it is no seed folder; `crispformer seeds` or `seeds-import` makes one",
                folder.string());
  }
  try {
    const Json json = Json::parse(read_text(file));
    if (json.at("format") != kFormat) throw Error("{}: its format is not '{}'", file.string(), kFormat);
    if (json.at("format_version").get<int>() > kVersion) {
      throw Error("{}: format {} was written by a newer version of this program, which reads up to {}", file.string(),
                  json.at("format_version").get<int>(), kVersion);
    }
    SeedFacts facts;
    facts.complete = json.at("complete").get<bool>();
    facts.made_by = json.at("made_by").get<std::string>();
    facts.data = json.at("data").get<std::string>();
    facts.split = json.at("split").get<std::string>();
    facts.classes = json.at("classes").get<ClassNames>();
    facts.options = json.at("options").dump();
    if (!facts.complete) return facts;
    facts.images = json.at("images").get<int64_t>();
    for (const std::string& name : facts.classes) {
      facts.class_images.push_back(json.at("counts").at(name).at("images").get<int64_t>());
      facts.class_pixels.push_back(json.at("counts").at(name).at("pixels").get<int64_t>());
    }
    facts.ignored_pixels = json.at("ignored_pixels").get<int64_t>();
    facts.untagged = json.at("untagged").get<int64_t>();
    facts.skipped = json.at("skipped").get<std::map<std::string, std::string>>();
    return facts;
  } catch (const Json::exception& problem) {
    throw Error("{}: cannot be read: {}", file.string(), problem.what());
  }
}

// "photos", "photos/" and "./photos" are one folder.
bool same_folder(const std::string& a, const std::string& b) {
  std::error_code missing;
  return a == b || Path(a + "/").lexically_normal() == Path(b + "/").lexically_normal() ||
         std::filesystem::equivalent(a, b, missing);
}

// The first thing in which two folders' heads differ, in words; empty when they would hold the same labels.
std::string difference(const SeedFacts& there, const SeedFacts& wanted) {
  if (!same_folder(there.data, wanted.data)) return fmt::format("data {} instead of {}", there.data, wanted.data);
  if (there.split != wanted.split) return fmt::format("split {} instead of {}", there.split, wanted.split);
  if (there.classes != wanted.classes) return "other classes";
  const Json a = Json::parse(there.options), b = Json::parse(wanted.options);
  if (a == b) return "";
  for (const auto& [name, value] : b.items()) {
    if (!a.contains(name) || a[name] != value) {
      return fmt::format("{} {} instead of {}", name, a.contains(name) ? a[name].dump() : "unset", value.dump());
    }
  }
  return "other options";
}

void write_facts(const Path& folder, const SeedFacts& facts) {
  write_atomic(head_of(folder), to_json(facts).dump(2) + "\n");
}

SeedFacts begun(const Path& folder, SeedFacts facts) {
  make_folder(folder);
  if (!std::filesystem::exists(head_of(folder))) {
    write_facts(folder, facts);
    return facts;
  }
  const SeedFacts there = read_facts(folder);
  const std::string other = difference(there, facts);
  if (!other.empty()) {
    throw Error("{}: holds seeds made with {}; choose another --out, or remove it", folder.string(), other);
  }
  return facts;
}

}  // namespace

bool is_seed_folder(const Path& folder) { return std::filesystem::is_regular_file(head_of(folder)); }

SeedFolder::SeedFolder(Path folder, bool may_be_incomplete) : folder_(std::move(folder)), facts_(read_facts(folder_)) {
  if (!facts_.complete && !may_be_incomplete) {
    throw Error("{}: these seeds are not complete; run the command that made them again and it goes on: {}",
                folder_.string(), facts_.made_by);
  }
}

Path SeedFolder::label_file(const std::string& id) const { return folder_ / "labels" / (id + ".png"); }
Path SeedFolder::uncertainty_file(const std::string& id) const { return folder_ / "uncertainty" / (id + ".png"); }
bool SeedFolder::has(const std::string& id) const { return std::filesystem::exists(label_file(id)); }

Seed SeedFolder::read(const std::string& id) const {
  Seed seed{image::read_mask(label_file(id)), {}};
  for (const uint8_t label : seed.labels.labels) {
    if (label >= facts_.classes.size() && label != image::kIgnore) {
      throw Error("{}: label {}, but the seeds have {} classes", label_file(id).string(), label, facts_.classes.size());
    }
  }
  const Path file = uncertainty_file(id);
  seed.uncertainty =
      std::filesystem::exists(file) ? image::read_mask(file) : image::Mask(seed.labels.width, seed.labels.height);
  if (seed.uncertainty.width != seed.labels.width || seed.uncertainty.height != seed.labels.height) {
    throw Error("{}: {}x{}, but its labels are {}x{}", file.string(), seed.uncertainty.width, seed.uncertainty.height,
                seed.labels.width, seed.labels.height);
  }
  return seed;
}

SeedWriter::SeedWriter(Path folder, SeedFacts facts)
    : facts_(begun(folder, std::move(facts))), lock_(folder), folder_(folder, true) {}

void SeedWriter::write(const std::string& id, const Seed& seed) {
  const Path labels = folder_.label_file(id), uncertainty = folder_.uncertainty_file(id);
  make_folder(labels.parent_path());
  make_folder(uncertainty.parent_path());
  image::write_grey_png(uncertainty, seed.uncertainty);
  image::write_mask_png(labels, seed.labels);
}

void SeedWriter::skip(const std::string& id, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  facts_.skipped[id] = reason;
}

const SeedFacts& SeedWriter::finish(const std::vector<std::string>& ids, int threads) {
  facts_.class_images.assign(facts_.classes.size(), 0);
  facts_.class_pixels.assign(facts_.classes.size(), 0);
  facts_.images = facts_.ignored_pixels = 0;
  parallel_for(static_cast<int64_t>(ids.size()), threads, [&](int64_t i) {
    const std::string& id = ids[static_cast<size_t>(i)];
    if (!folder_.has(id)) return;
    std::vector<int64_t> counts(256);
    for (const uint8_t label : image::read_mask(folder_.label_file(id)).labels) ++counts[label];
    const std::lock_guard lock(mutex_);
    ++facts_.images;
    facts_.ignored_pixels += counts[image::kIgnore];
    for (size_t k = 0; k < facts_.classes.size(); ++k) {
      facts_.class_images[k] += counts[k] > 0;
      facts_.class_pixels[k] += counts[k];
    }
  });
  facts_.complete = true;
  write_facts(folder_.path(), facts_);
  return facts_;
}

}  // namespace crisp::data
