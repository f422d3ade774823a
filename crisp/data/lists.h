#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "crisp/base/files.h"

namespace crisp::data {

// A line of a tag file: an image's name and what it shows, as written.
struct TagLine {
  size_t line = 0;  // from 1; 0 where the image's folder is its tag
  std::string name;
  std::vector<std::string> tags;
};

// `name tag tag ...`: words between white space or commas; a name or tag with spaces stands in double
// quotes ("my photo.jpg" "potted plant"; a quote inside is doubled). Empty lines and lines starting with
// '#' are skipped.
std::vector<TagLine> parse_tag_text(const Path& path);

// `file,tag;tag`: fields may be quoted as above; further fields count as tags too. A first line whose
// field is "file", "image", "name" or "filename" is a heading.
std::vector<TagLine> parse_tag_csv(const Path& path);

// One name a line (spaces allowed, nothing quoted). Empty lines and '#' lines are skipped.
std::vector<std::string> parse_names(const Path& path);

// `a/b.jpg` -> `a/b`; `a/b.c` stays, `.c` being no image extension.
std::string strip_image_extension(const std::string& name);

// Finds things by the names people write in lists: the id itself, with extension, with leading `./` or
// `images/`, or the bare stem where only one id ends so.
class NameIndex {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  explicit NameIndex(const std::vector<std::string>& ids);

  // Place in `ids`, or kNone. A stem that fits several ids is an error that names them.
  size_t find(const std::string& name) const;

 private:
  std::vector<std::string> ids_;
  std::map<std::string, size_t> by_id_;
  std::multimap<std::string, size_t> by_stem_;
};

}  // namespace crisp::data
