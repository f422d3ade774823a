#include "crisp/data/xml.h"

#include <array>
#include <utility>

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::data {
namespace {

std::string unescape(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    size_t length = 1;
    char c = text[at];
    for (const auto& [entity, meaning] : kEntities) {
      if (text.substr(at).starts_with(entity)) {
        length = entity.size();
        c = meaning;
      }
    }
    plain += c;
    at += length;
  }
  return plain;
}

}  // namespace

std::vector<std::string> object_names(const std::string& name, std::string_view xml) {
  const std::vector<std::string_view> wanted = {"annotation", "object", "name"};
  std::vector<std::string_view> open;
  std::vector<std::string> found;
  std::string value;
  size_t at = 0;
  bool has_root = false;
  const auto fail = [&](std::string_view what) { throw Error("{}: byte {}: {}", name, at, what); };
  const auto skip_past = [&](std::string_view end) {
    const size_t stop = xml.find(end, at);
    if (stop == std::string_view::npos) fail(fmt::format("no '{}' follows: was the file cut off?", end));
    const std::string_view passed = xml.substr(at, stop - at);
    at = stop + end.size();
    return passed;
  };
  if (xml.starts_with("\xEF\xBB\xBF")) at = 3;
  while (at < xml.size()) {
    const size_t mark = xml.find('<', at);
    const std::string_view text = xml.substr(at, mark - at);
    if (open.empty() && !trim(text).empty()) fail("text outside of the root element: not an XML annotation");
    if (open == wanted) value += unescape(text);
    if (mark == std::string_view::npos) break;
    at = mark;
    const std::string_view rest = xml.substr(at);
    if (rest.starts_with("<!--")) {
      skip_past("-->");
    } else if (rest.starts_with("<?") || rest.starts_with("<!")) {
      skip_past(">");
    } else if (rest.starts_with("</")) {
      const std::string closed = trim(skip_past(">").substr(2));
      if (open.empty() || open.back() != closed) fail(fmt::format("</{}> closes nothing that is open", closed));
      if (open == wanted) found.push_back(trim(value));
      open.pop_back();
    } else {
      std::string_view inside = skip_past(">").substr(1);
      const bool empty = inside.ends_with('/');
      if (empty) inside.remove_suffix(1);
      const std::string_view element = inside.substr(0, inside.find_first_of(" \t\r\n"));
      if (element.empty()) fail("an element without a name");
      if (open.empty() && std::exchange(has_root, true)) fail("a second root element");
      if (empty) continue;
      open.push_back(element);
      value.clear();
    }
  }
  if (!open.empty()) fail(fmt::format("<{}> is never closed: was the file cut off?", open.back()));
  if (!has_root) fail("no element at all: not an XML annotation");
  return found;
}

}  // namespace crisp::data
