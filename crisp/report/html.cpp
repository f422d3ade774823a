#include "crisp/report/html.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace crisp::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the UTF-8 character that starts here; 0 where none does.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xC2 && first < 0xE0   ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

bool is_void(std::string_view name) { return name == "img" || name == "br" || name == "hr"; }

}  // namespace

std::string escape(std::string_view plain) {
  std::string out;
  out.reserve(plain.size());
  while (!plain.empty()) {
    const size_t length = character_length(plain);
    const char c = plain[0];
    const bool control = static_cast<uint8_t>(c) < 0x20 && c != '\n' && c != '\t';
    if (length == 0 || control || c == '\x7F') {
      out += kReplacement;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += plain.substr(0, length);
    }
    plain.remove_prefix(std::max<size_t>(1, length));
  }
  return out;
}

Html::Html(std::string_view plain) : markup_(escape(plain)) {}

Html& Html::operator+=(const Html& more) {
  markup_ += more.markup_;
  return *this;
}

Html tag(std::string_view name, std::initializer_list<Attribute> attributes, std::initializer_list<Html> children) {
  Html element;
  std::string& markup = element.markup_;
  markup += '<';
  markup += name;
  for (const Attribute& attribute : attributes) {
    markup += ' ';
    markup += attribute.name;
    markup += "=\"";
    markup += escape(attribute.value);
    markup += '"';
  }
  markup += '>';
  for (const Html& child : children) markup += child.markup_;
  if (is_void(name)) return element;
  markup += "</";
  markup += name;
  markup += '>';
  return element;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j) three = three << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? kLetters[three >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace crisp::report
