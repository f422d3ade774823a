#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "crisp/data/check.h"

namespace crisp::apps {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const data::CheckReport& report) {
  Json splits = Json::array();
  for (const data::CheckReport::Split& split : report.splits) {
    splits.push_back({{"name", split.name},
                      {"images", split.images},
                      {"tagged", split.tagged},
                      {"masked", split.masked},
                      {"tagged_with", split.tagged_with}});
  }
  const auto range = [](const data::CheckReport::Range& r) { return Json{r.low, r.median, r.high}; };
  return {{"data", report.root.string()},
          {"kind", data::to_string(report.kind)},
          {"classes", report.classes},
          {"images", report.images},
          {"tagged", report.tagged},
          {"masked", report.masked},
          {"width", range(report.width)},
          {"height", range(report.height)},
          {"splits", splits},
          {"mask_pixels", report.mask_pixels},
          {"ignored_pixels", report.ignored_pixels},
          {"problems", report.problems()},
          {"notes", report.notes()},
          {"ok", report.ok()}};
}

}  // namespace

int run_check(const Arguments& arguments) {
  CommandLine line(
      "check",
      "Looks through a data set: counts, sizes, class frequencies, images without tags, unknown tags, files "
      "that cannot be read, tags against masks. Exit status 1 when something is wrong.",
      "  crispformer check --data photos/\n"
      "  crispformer check --data VOC2012 --json\n");
  std::string folder, tags_from = "auto";
  bool headers_only = false, json = false;
  line.app.add_option("--data", folder, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--tags-from", tags_from, "auto, files, xml or masks");
  line.app.add_flag("--headers-only", headers_only, "read the size of each photo, not its pixels");
  line.app.add_flag("--json", json, "the same for machines");
  if (!line.parse(arguments)) return 0;

  const data::Dataset dataset = data::open_dataset(
      folder,
      {.tags_from = data::parse_tag_source(tags_from), .seed = line.seed, .lenient = true, .threads = line.threads});
  const data::CheckReport report = data::check(dataset, {.threads = line.threads, .decode = !headers_only});
  fmt::print("{}",
             json ? to_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n" : data::to_text(report));
  return report.ok() ? 0 : 1;
}

}  // namespace crisp::apps
