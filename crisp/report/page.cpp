#include "crisp/report/page.h"

#include "crisp/base/error.h"
#include "crisp/report/assets.h"

namespace crisp::report {
namespace {

// The skeleton is cut at its marks once, so that nothing filled in is looked at again.
void copy_until(std::string& out, std::string_view& skeleton, std::string_view mark) {
  const size_t place = skeleton.find(mark);
  if (place == std::string_view::npos) throw Error("assets/page.html has no {}", mark);
  out += skeleton.substr(0, place);
  skeleton.remove_prefix(place + mark.size());
}

}  // namespace

std::string page(const std::string& title, const Html& body) {
  std::string out;
  std::string_view skeleton = page_html();
  copy_until(out, skeleton, "<!--title-->");
  out += escape(title);
  copy_until(out, skeleton, "/*style*/");
  out += style_css();
  copy_until(out, skeleton, "<!--body-->");
  out += body.str();
  out += skeleton;
  return out;
}

Html section(std::string_view title, const Html& lead, const Html& contents) {
  return tag("section", {}, {tag("h2", {}, {title}), tag("p", {{"class", "lead"}}, {lead}), contents});
}

Html card(const Html& contents) { return tag("div", {{"class", "card"}}, {contents}); }

}  // namespace crisp::report
