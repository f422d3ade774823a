#include "crisp/flow/seen_photos.h"

#include <nlohmann/json.hpp>
#include <unordered_set>

#include "crisp/base/error.h"
#include "crisp/base/resources.h"
#include "crisp/base/sha256.h"
#include "crisp/base/text.h"
#include "crisp/data/lists.h"
#include "crisp/model/foundation.h"
#include "crisp/model/load.h"

namespace crisp::flow {
namespace {

constexpr const char* kList = "photos.txt";  // in a run folder

// Of the shipped file with this hash; nothing where there is none.
std::vector<SeenPhotos> by_card(const std::string& sha) {
  const Path cards = shipped_weights("cards.json");
  if (cards.empty()) return {};
  const auto all = nlohmann::json::parse(read_text(cards));
  for (const auto& [file, card] : all.items()) {
    if (card.at("sha256") != sha) continue;
    SeenPhotos seen{{}, fmt::format("{}: {}", file, card.at("how").get<std::string>())};
    for (const auto& list : card.at("photos")) {
      const auto ids = data::parse_names(cards.parent_path() / list.get<std::string>());
      seen.ids.insert(seen.ids.end(), ids.begin(), ids.end());
    }
    return {std::move(seen)};
  }
  return {};
}

}  // namespace

std::vector<SeenPhotos> photos_seen_by(const Path& file_or_run) {
  const Path file = model::model_inside(file_or_run), list = file.parent_path() / kList;
  std::vector<SeenPhotos> all;
  if (std::filesystem::exists(list)) all.push_back({data::parse_names(list), list.string()});
  if (!std::filesystem::is_regular_file(file)) return all;  // a hub folder
  const auto add = [&](const std::string& sha) {
    for (SeenPhotos& seen : by_card(sha)) all.push_back(std::move(seen));
  };
  add(to_hex(sha256_of_file(file)));
  if (const std::string sha = model::foundation_named_in(file); !sha.empty()) add(sha);
  return all;
}

void keep_photos_seen(const Path& run, const std::vector<data::Sample>& samples, const Path& init) {
  std::string text = "# Photos that this model has learned from, in any way.\n";
  for (const data::Sample& sample : samples) text += sample.id + "\n";
  if (!init.empty()) {
    for (const SeenPhotos& seen : photos_seen_by(init)) {
      text += fmt::format("# {}, where it started\n{}\n", init.string(), join(seen.ids, "\n"));
    }
  }
  write_atomic(run / kList, text);
}

std::vector<std::string> seen_before(const Path& file_or_run, const std::vector<std::string>& ids) {
  std::vector<std::string> warnings;
  for (const SeenPhotos& seen : photos_seen_by(file_or_run)) {
    const std::unordered_set<std::string> known(seen.ids.begin(), seen.ids.end());
    const auto count = std::ranges::count_if(ids, [&](const std::string& id) { return known.contains(id); });
    if (count == 0) continue;
    warnings.push_back(fmt::format("{} of these {} photos are not new to the model ({})", count, ids.size(), seen.how));
  }
  return warnings;
}

}  // namespace crisp::flow
