#include "crisp/data/lists.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/image/decode.h"

namespace crisp::data {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// One quoted text, `at` standing on the opening quote; ends behind the closing one.
std::string quoted(std::string_view line, size_t& at, const Path& path, size_t number) {
  std::string word;
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') {
      word += line[at];
    } else if (at + 1 < line.size() && line[at + 1] == '"') {
      word += '"';
      ++at;
    } else {
      ++at;
      return word;
    }
  }
  throw Error("{}: line {}: a quote without its end", path.string(), number);
}

// Words of a line; `is_separator` splits them, quotes keep them whole. With `keep_empty` every separator
// ends a field (CSV), else runs of them count once.
std::vector<std::string> words(std::string_view line, const std::function<bool(char)>& is_separator, bool keep_empty,
                               const Path& path, size_t number) {
  std::vector<std::string> found;
  for (size_t at = 0; at <= line.size();) {
    while (at < line.size() && is_space(line[at])) ++at;
    std::string word;
    const bool has_quotes = at < line.size() && line[at] == '"';
    if (has_quotes) {
      word = quoted(line, at, path, number);
      while (at < line.size() && is_space(line[at]) && !is_separator(line[at])) ++at;
      if (at < line.size() && !is_separator(line[at])) {
        throw Error("{}: line {}: '{}' behind a closing quote", path.string(), number, line[at]);
      }
    } else {
      const size_t start = at;
      while (at < line.size() && !is_separator(line[at])) ++at;
      word = trim(line.substr(start, at - start));
    }
    if (keep_empty || has_quotes || !word.empty()) found.push_back(std::move(word));
    ++at;  // the separator
  }
  return found;
}

template <typename Use>
void for_lines(const Path& path, Use use) {
  const std::vector<std::string> lines = split_lines(read_text(path));
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = trim(lines[i]);
    if (!line.empty() && line[0] != '#') use(i + 1, line);
  }
}

}  // namespace

std::vector<TagLine> parse_tag_text(const Path& path) {
  std::vector<TagLine> found;
  for_lines(path, [&](size_t number, const std::string& line) {
    auto parts = words(line, [](char c) { return is_space(c) || c == ','; }, false, path, number);
    if (parts.empty()) return;
    found.push_back({number, parts[0], {parts.begin() + 1, parts.end()}});
  });
  return found;
}

std::vector<TagLine> parse_tag_csv(const Path& path) {
  std::vector<TagLine> found;
  bool first = true;
  for_lines(path, [&](size_t number, const std::string& line) {
    const auto fields = words(line, [](char c) { return c == ','; }, true, path, number);
    std::string heading = fields[0];
    std::transform(heading.begin(), heading.end(), heading.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array kHeadings = {"file", "image", "name", "filename"};
    const bool is_heading = first && std::find(kHeadings.begin(), kHeadings.end(), heading) != kHeadings.end();
    first = false;
    if (is_heading) return;
    if (fields[0].empty()) throw Error("{}: line {}: the file name is empty", path.string(), number);
    TagLine entry{number, fields[0], {}};
    for (size_t i = 1; i < fields.size(); ++i) {
      for (std::string& tag : split(fields[i], ';')) {
        if (!tag.empty()) entry.tags.push_back(std::move(tag));
      }
    }
    found.push_back(std::move(entry));
  });
  return found;
}

std::vector<std::string> parse_names(const Path& path) {
  std::vector<std::string> names;
  for_lines(path, [&](size_t, const std::string& line) { names.push_back(line); });
  return names;
}

std::string strip_image_extension(const std::string& name) {
  if (!image::is_image_name(name)) return name;
  return name.substr(0, name.size() - Path(name).extension().string().size());
}

NameIndex::NameIndex(const std::vector<std::string>& ids) : ids_(ids) {
  for (size_t i = 0; i < ids_.size(); ++i) {
    by_id_.emplace(ids_[i], i);
    by_stem_.emplace(Path(ids_[i]).filename().string(), i);
  }
}

size_t NameIndex::find(const std::string& name) const {
  std::string bare = strip_image_extension(name);
  for (const std::string_view prefix : {"./", "/", "images/", "JPEGImages/"}) {
    if (bare.starts_with(prefix)) bare.erase(0, prefix.size());
  }
  for (const std::string& form : {name, bare}) {
    if (const auto found = by_id_.find(form); found != by_id_.end()) return found->second;
  }
  const auto [first, last] = by_stem_.equal_range(bare);  // only where no folder is given
  if (first == last) return kNone;
  if (std::next(first) != last) {
    throw Error("'{}' fits {} and {}: write the name with its folder", name, ids_[first->second],
                ids_[std::next(first)->second]);
  }
  return first->second;
}

}  // namespace crisp::data
