#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace crisp::report {

// A piece of markup that is safe to put into a page. Plain text becomes one by being escaped, on its own, so
// that file names and class names cannot break a page; only tag() and the page's own skeleton make markup.
class Html {
 public:
  Html() = default;
  Html(std::string_view plain);                                      // NOLINT: text is meant to convert
  Html(const char* plain) : Html(std::string_view(plain)) {}         // NOLINT
  Html(const std::string& plain) : Html(std::string_view(plain)) {}  // NOLINT

  Html& operator+=(const Html& more);
  const std::string& str() const { return markup_; }
  bool empty() const { return markup_.empty(); }

 private:
  friend Html tag(std::string_view, std::initializer_list<struct Attribute>, std::initializer_list<Html>);
  std::string markup_;
};

struct Attribute {
  std::string_view name;
  std::string value;
};

// <name attributes>children</name>, for HTML and SVG alike. Names are ours; values are escaped.
Html tag(std::string_view name, std::initializer_list<Attribute> attributes = {},
         std::initializer_list<Html> children = {});

// Text for an element or a quoted attribute. Bytes that are not UTF-8 and control characters become U+FFFD.
std::string escape(std::string_view plain);

std::string base64(std::string_view bytes);

}  // namespace crisp::report
