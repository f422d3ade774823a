#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crisp/report/eval_page.h"
#include "crisp/report/number_text.h"
#include "crisp/report/page.h"
#include "crisp/report/parts.h"
#include "crisp/report/plots.h"

namespace crisp::report {
namespace {

constexpr size_t kMostClasses = 20, kMostImages = 20;

// Points on a scale of 100, so that one plot holds percents and shares.
double points(const metric::HeadlineField& field, double value) { return field.percent ? value : 100 * value; }

Html numbers_table(const metric::Comparison& comparison) {
  double most = 1e-9;
  for (const metric::Difference& one : comparison.numbers) {
    const metric::HeadlineField& field = field_named(one.name);
    if (field.name == "nll") continue;
    most = std::max(most, std::abs(points(field, one.difference)));
    if (one.ci95)
      most = std::max({most, std::abs(points(field, one.ci95->low)), std::abs(points(field, one.ci95->high))});
  }
  Html rows = tag("tr", {},
                  {tag("th", {}, {"number"}), tag("th", {}, {"A"}), tag("th", {}, {"B"}), tag("th", {}, {"B − A"}),
                   tag("th", {{"class", "wide optional"}}, {""}), tag("th", {{"class", "optional"}}, {"95% interval"}),
                   tag("th", {}, {"p"})});
  for (const metric::Difference& one : comparison.numbers) {
    const metric::HeadlineField& field = field_named(one.name);
    const bool clear = one.ci95 && (one.ci95->low > 0 || one.ci95->high < 0);
    const bool better = (one.difference > 0) == field.higher_is_better;
    std::optional<metric::Interval> scaled;
    if (one.ci95) scaled = metric::Interval{points(field, one.ci95->low), points(field, one.ci95->high)};
    const std::string interval = one.ci95 ? fmt::format("{} … {}", format_difference(field, one.ci95->low),
                                                        format_difference(field, one.ci95->high))
                                          : "";
    rows += tag("tr", {},
                {tag("td", {{"class", "name"}}, {text_of(field).title}), tag("td", {}, {format_number(field, one.a)}),
                 tag("td", {}, {format_number(field, one.b)}),
                 tag("td",
                     {{"class", !clear   ? ""
                                : better ? "up"
                                         : "down"}},
                     {format_difference(field, one.difference)}),
                 tag("td", {{"class", "wide optional"}},
                     {difference_bar(points(field, one.difference), scaled, most, field.higher_is_better)}),
                 tag("td", {{"class", "optional"}}, {interval}),
                 tag("td", {}, {one.p_value ? fmt::format("{:.3f}", *one.p_value) : ""})});
  }
  return tag("div", {{"class", "scroll"}}, {tag("table", {}, {rows})});
}

struct Change {
  std::string name;
  double a, b, difference;
};

Html changes_table(const char* what, const std::vector<Change>& changes) {
  double most = 1e-9;
  for (const Change& one : changes) most = std::max(most, std::abs(one.difference));
  Html rows = tag("tr", {},
                  {tag("th", {}, {what}), tag("th", {}, {"A"}), tag("th", {}, {"B"}), tag("th", {}, {"B − A"}),
                   tag("th", {{"class", "wide optional"}}, {""})});
  for (const Change& one : changes) {
    rows += tag("tr", {},
                {tag("td", {{"class", "name"}}, {one.name}), tag("td", {}, {fmt::format("{:.1f}", one.a)}),
                 tag("td", {}, {fmt::format("{:.1f}", one.b)}),
                 tag("td", {{"class", one.difference > 0 ? "up" : "down"}}, {fmt::format("{:+.1f}", one.difference)}),
                 tag("td", {{"class", "wide optional"}}, {change_bar(one.difference, most)})});
  }
  return card(tag("div", {{"class", "scroll"}}, {tag("table", {}, {rows})}));
}

}  // namespace

std::string compare_page(const ComparePage& contents) {
  const metric::Comparison& comparison = contents.comparison;
  Html body = page_header(
      "CrispFormer comparison", contents.title,
      fmt::format("The same {} images, drawn alike from both evaluations.", format_count(comparison.images)));
  Html names = tag(
      "dl", {},
      {tag("dt", {}, {"A"}), tag("dd", {}, {contents.name_a}), tag("dt", {}, {"B"}), tag("dd", {}, {contents.name_b})});
  body += tag("section", {}, {card(names)});
  body += section("Numbers",
                  "Coloured where the 95% interval of the difference leaves out 0: green is better, red is worse. "
                  "p is two-sided, that there is no difference.",
                  card(numbers_table(comparison)));
  std::vector<Change> classes, images;
  for (const metric::ClassChange& one : comparison.classes) {
    if (classes.size() < kMostClasses && one.difference != 0) {
      classes.push_back({contents.classes[static_cast<size_t>(one.label)], one.a, one.b, one.difference});
    }
  }
  for (const metric::ImageChange& one : comparison.images_by_change) {
    if (images.size() < kMostImages && one.difference != 0) images.push_back({one.name, one.a, one.b, one.difference});
  }
  if (!classes.empty())
    body += section("Classes that changed most", "IoU in percent.", changes_table("class", classes));
  if (!images.empty()) {
    body += section("Images that changed most", "Mean IoU of the image's own classes, in percent.",
                    changes_table("image", images));
  }
  body += origin_section(contents.command, contents.version, contents.commit);
  return page(contents.title + " - CrispFormer comparison", body);
}

}  // namespace crisp::report
