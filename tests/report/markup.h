#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crisp::report::test {

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// Why the markup is not well-formed (a tag that is closed by another, a bare '<' or '"'); empty when it is.
inline std::string fault_in(const std::string& markup) {
  std::vector<std::string> open;
  for (size_t at = markup.find('<'); at != std::string::npos; at = markup.find('<', at)) {
    if (markup.compare(at, 2, "<!") == 0) {  // doctype
      at = markup.find('>', at);
      continue;
    }
    const bool closing = markup[at + 1] == '/';
    size_t end = at + 1 + (closing ? 1 : 0);
    std::string name;
    while (end < markup.size() && (std::isalnum(static_cast<unsigned char>(markup[end])) != 0)) name += markup[end++];
    if (name.empty()) return "a bare '<' at " + markup.substr(at, 40);
    bool quoted = false;
    while (end < markup.size() && (quoted || markup[end] != '>')) quoted ^= markup[end++] == '"';
    if (end >= markup.size()) return "an open tag at " + markup.substr(at, 40);
    at = end;
    if (closing) {
      if (open.empty() || open.back() != name)
        return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
      open.pop_back();
    } else if (name != "img" && name != "meta" && name != "br") {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

}  // namespace crisp::report::test
