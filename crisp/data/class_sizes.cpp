#include "crisp/data/class_sizes.h"

#include <algorithm>

#include "crisp/base/error.h"
#include "crisp/base/text.h"

namespace crisp::data {

std::vector<double> read_class_sizes(const Path& file, const ClassNames& classes) {
  const std::vector<std::string> lines = split_lines(read_text(file));
  std::vector<double> sizes(classes.size());
  bool any = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string line = trim(std::string_view(lines[i]).substr(0, lines[i].find('#')));
    if (line.empty()) continue;
    const std::string where = fmt::format("{}: line {}", file.string(), i + 1);
    const size_t space = line.find_last_of(" \t,");
    const std::string name =
        space == std::string::npos ? line : trim(line.substr(0, line.find_last_not_of(" \t,", space) + 1));
    const auto percent = space == std::string::npos ? std::nullopt : parse_number(line.substr(space + 1));
    if (!percent || !(*percent > 0 && *percent < 100)) {
      throw Error("{}: '{}': a class and how much of a photo it fills, in percent, e.g. `{} 20`", where, line,
                  classes.back());
    }
    const auto found = std::find(classes.begin(), classes.end(), name);
    if (found == classes.end()) {
      throw Error("{}: no class is called '{}'; there are {}", where, name,
                  join_some({classes.begin() + 1, classes.end()}, 24));
    }
    const auto label = static_cast<size_t>(found - classes.begin());
    if (label == 0) throw Error("{}: the background fills what the others leave", where);
    if (sizes[label] > 0) throw Error("{}: '{}' is there already", where, name);
    sizes[label] = *percent / 100;
    any = true;
  }
  if (!any) throw Error("{}: no size in it: a line `NAME PERCENT` for each class", file.string());
  return sizes;
}

}  // namespace crisp::data
