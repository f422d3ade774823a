#include "crisp/infer/size_order.h"

#include <algorithm>
#include <tuple>

#include "crisp/base/error.h"
#include "crisp/image/decode.h"

namespace crisp::infer {
namespace {

std::pair<int, int> size_of(const Path& file) {
  try {
    const image::ImageSize size = image::read_size(file);
    return {size.width, size.height};
  } catch (const Error&) {
    return {0, 0};
  }
}

}  // namespace

std::vector<size_t> size_order(const std::vector<Path>& files) {
  std::vector<std::tuple<int, int, size_t>> sizes;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto [width, height] = size_of(files[i]);
    sizes.emplace_back(width, height, i);
  }
  std::sort(sizes.begin(), sizes.end());
  std::vector<size_t> order;
  for (const auto& item : sizes) order.push_back(std::get<2>(item));
  return order;
}

}  // namespace crisp::infer
