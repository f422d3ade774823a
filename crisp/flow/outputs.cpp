#include "crisp/flow/outputs.h"

#include <functional>
#include <map>
#include <set>

#include "crisp/base/error.h"
#include "crisp/image/decode.h"

namespace crisp::flow {
namespace fs = std::filesystem;

namespace {

struct Found {
  Path file, root;  // root: the folder given, or the file's own

  std::string plain() const { return file.lexically_relative(root).replace_extension().generic_string(); }
  std::string with_folder() const {
    const std::string folder = fs::absolute(root).lexically_normal().filename().string();
    const std::string name = folder.empty() ? fs::absolute(root).parent_path().filename().string() : folder;
    return name + "/" + plain();
  }
  std::string with_extension() const { return with_folder() + "-" + lower_extension(file).substr(1); }
};

// Names that only one of `items` has under `make` are settled; the others are returned.
std::vector<size_t> settle(const std::vector<Found>& items, const std::vector<size_t>& open,
                           const std::function<std::string(const Found&)>& make, std::vector<std::string>& names,
                           std::set<std::string>& taken) {
  std::map<std::string, std::vector<size_t>> groups;
  for (const size_t i : open) groups[make(items[i])].push_back(i);
  std::vector<size_t> left;
  for (const auto& [name, members] : groups) {
    if (members.size() == 1 && taken.insert(name).second) {
      names[members[0]] = name;
    } else {
      left.insert(left.end(), members.begin(), members.end());
    }
  }
  return left;
}

}  // namespace

std::vector<InputImage> collect_images(const std::vector<std::string>& paths) {
  std::vector<Found> items;
  std::set<Path> seen;
  const auto add = [&](const Path& file, const Path& root) {
    if (seen.insert(fs::weakly_canonical(file)).second) items.push_back({file, root});
  };
  for (const std::string& text : paths) {
    const Path path = text;
    if (!fs::exists(path)) throw Error("{}: no such file or folder", text);
    if (!fs::is_directory(path)) {
      add(path, path.has_parent_path() ? path.parent_path() : Path("."));
      continue;
    }
    const std::vector<Path> files = list_files(path, image::image_extensions());
    if (files.empty()) throw Error("{}: no photo (.jpg, .jpeg, .png) in this folder", text);
    for (const Path& file : files) add(file, path);
  }
  std::vector<std::string> names(items.size());
  std::vector<size_t> open(items.size());
  for (size_t i = 0; i < open.size(); ++i) open[i] = i;
  std::set<std::string> taken;
  open = settle(items, open, &Found::plain, names, taken);
  open = settle(items, open, &Found::with_folder, names, taken);
  open = settle(items, open, &Found::with_extension, names, taken);
  for (const size_t i : open) {
    for (int number = 2; names[i].empty(); ++number) {
      const std::string name = items[i].with_extension() + "-" + std::to_string(number);
      if (taken.insert(name).second) names[i] = name;
    }
  }
  std::vector<InputImage> images;
  for (size_t i = 0; i < items.size(); ++i) images.push_back({items[i].file, names[i]});
  return images;
}

}  // namespace crisp::flow
