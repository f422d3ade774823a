#include "crisp/report/parts.h"

#include "crisp/base/text.h"
#include "crisp/report/page.h"

namespace crisp::report {

Html page_header(const std::string& kind, const std::string& title, const std::string& lead) {
  return tag(
      "header", {},
      {tag("div", {{"class", "eyebrow"}}, {kind}), tag("h1", {}, {title}), tag("p", {{"class", "lead"}}, {lead})});
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
