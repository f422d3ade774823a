#include "crisp/report/parts.h"

#include <fmt/format.h>

#include "crisp/image/palette.h"
#include "crisp/report/number_text.h"
#include "crisp/report/page.h"
#include "crisp/report/plots.h"

namespace crisp::report {

Html page_header(const std::string& kind, const std::string& title, const std::string& lead) {
  return tag(
      "header", {},
      {tag("div", {{"class", "eyebrow"}}, {kind}), tag("h1", {}, {title}), tag("p", {{"class", "lead"}}, {lead})});
}

Html facts_list(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (facts.empty()) return {};
  Html list;
  for (const auto& [name, value] : facts) list += tag("div", {}, {tag("dt", {}, {name}), tag("dd", {}, {value})});
  return tag("dl", {{"class", "facts"}}, {list});
}

Html swatch(size_t label) {
  const image::Colour& colour = image::voc_palette()[label];
  return tag("span", {{"class", "swatch"},
                      {"style", fmt::format("background:rgb({},{},{})", colour[0], colour[1], colour[2])}});
}

std::optional<metric::Interval> interval_of(const metric::Metrics& metrics, const metric::HeadlineField& field) {
  const auto found = metrics.ci95.find(std::string(field.name));
  if (found == metrics.ci95.end()) return std::nullopt;
  return found->second;
}

Html number_block(const metric::Metrics& metrics, const metric::HeadlineField& field) {
  const std::optional<double> value = metrics.*field.value;
  const NumberText& text = text_of(field);
  const auto interval = interval_of(metrics, field);
  Html beside;
  if (field.percent) beside += tag("span", {{"class", "unit"}}, {"%"});
  if (interval) beside += tag("span", {{"class", "interval"}}, {format_interval(field, interval)});
  // NLL has no upper end: nothing to measure it against.
  Html scale;
  if (field.name != "nll") scale = gauge(*value, interval, 0, field.percent ? 100 : field.name == "brier" ? 2 : 1);
  return tag("div", {{"class", "number"}},
             {tag("div", {{"class", "title"}}, {text.title}),
              tag("div", {{"class", "value"}}, {format_number(field, value), beside}), scale,
              tag("p", {{"class", "meaning"}}, {text.meaning})});
}

Html protocol_section(const std::vector<std::string>& protocol) {
  Html list;
  for (const std::string& line : protocol) {
    const size_t colon = line.find(": ");
    const bool named = colon != std::string::npos;
    list += tag("dt", {}, {named ? line.substr(0, colon) : ""});
    list += tag("dd", {}, {named ? line.substr(colon + 2) : line});
  }
  return section("Protocol", "Every choice that affects a number.", card(tag("dl", {}, {list})));
}

Html origin_section(const std::string& command, const std::string& version, const std::string& commit) {
  Html contents = tag("pre", {}, {command});
  contents +=
      tag("p", {{"class", "muted"}},
          {"CrispFormer " + version + ", commit " + commit + ". config.toml beside this page holds every option."});
  return section("How this was made", "", card(contents));
}

}  // namespace crisp::report
