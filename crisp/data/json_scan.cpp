#include "crisp/data/json_scan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::data {

void JsonScan::fail(std::string_view what) const { throw Error("{}: byte {}: {}", name_, at_, what); }

char JsonScan::peek() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
    ++at_;
  }
  return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonScan::expect(char c) {
  const char found = peek();
  if (found == '\0') fail(fmt::format("the file ends where '{}' is due: was it cut off?", c));
  if (found != c) fail(fmt::format("'{}' where '{}' is due: not the JSON of COCO instances", found, c));
  ++at_;
}

void JsonScan::begin_object() {
  expect('{');
  first_ = true;
}

void JsonScan::begin_array() {
  expect('[');
  first_ = true;
}

bool JsonScan::next(char closing) {
  const bool first = first_;
  first_ = false;
  if (peek() == closing) {
    ++at_;
    return false;
  }
  if (!first) expect(',');
  return true;
}

bool JsonScan::next_key(std::string& key) {
  if (!next('}')) return false;
  key = string();
  expect(':');
  return true;
}

bool JsonScan::next_item() { return next(']'); }

std::string_view JsonScan::quoted() {
  const size_t start = at_;
  expect('"');
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) {
    at_ = start;
    fail("a string without an end: was the file cut off?");
  }
  ++at_;
  return text_.substr(start, at_ - start);
}

std::string JsonScan::string() {
  peek();
  const std::string_view raw = quoted();
  const bool is_plain = std::all_of(raw.begin(), raw.end(), [](char c) { return c >= ' ' && c < 127 && c != '\\'; });
  if (is_plain) return std::string(raw.substr(1, raw.size() - 2));
  const auto value = nlohmann::json::parse(raw, nullptr, false);
  if (!value.is_string()) fail("a string with a wrong escape or not in UTF-8");
  return value.get<std::string>();
}

std::string_view JsonScan::scalar() {
  peek();
  const size_t start = at_;
  const auto is_part = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' || c == '.';
  };
  while (at_ < text_.size() && is_part(text_[at_])) ++at_;
  if (at_ == start) fail("a value is missing: was the file cut off?");
  return text_.substr(start, at_ - start);
}

int64_t JsonScan::integer() {
  const std::string_view text = scalar();
  if (const auto value = parse_integer(text)) return *value;
  // Some tools write every number as a float.
  if (const auto value = parse_number(text); value && *value > -9e15 && *value < 9e15) {
    const auto whole = static_cast<int64_t>(*value);
    if (static_cast<double>(whole) == *value) return whole;
  }
  fail(fmt::format("'{}' where a whole number is due", text));
}

double JsonScan::number() {
  const std::string_view text = scalar();
  const auto value = parse_number(text);
  if (!value) fail(fmt::format("'{}' where a number is due", text));
  return *value;
}

std::string_view JsonScan::skip() {
  const char opening = peek();
  const size_t start = at_;
  if (opening == '"') return quoted();
  if (opening != '{' && opening != '[') return scalar();
  std::string closing;  // brackets still open
  do {
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (at_ >= text_.size()) {
      at_ = start;
      fail("brackets without an end: was the file cut off?");
    }
    if (c == '"') {
      quoted();
      continue;
    }
    if (c == '{' || c == '[') {
      closing.push_back(c == '{' ? '}' : ']');
    } else if (c == '}' || c == ']') {
      if (closing.back() != c) fail(fmt::format("'{}' where '{}' is due", c, closing.back()));
      closing.pop_back();
    }
    ++at_;
  } while (!closing.empty());
  return text_.substr(start, at_ - start);
}

void JsonScan::finish() {
  if (peek() != '\0' || at_ != text_.size()) fail("text after the end of the JSON value");
}

}  // namespace crisp::data
