#include "crisp/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "crisp/base/error.h"
#include "crisp/base/simd.h"

namespace crisp::image {
namespace {

// Weights in fixed point leave 8 bits for the pixel and 2 for sign and rounding, as in Pillow.
constexpr int kWeightBits = 32 - 8 - 2;
constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// Which old pixels make new pixel i along one axis: `count[i]` of them from `first[i]` on, with the
// weights at i * most. They sum to 1.
struct Taps {
  std::vector<int> first, count;
  std::vector<double> weights;
  int most = 0;

  Taps(int old_size, int new_size) : first(static_cast<size_t>(new_size)), count(first.size()) {
    const double scale = static_cast<double>(old_size) / new_size;
    const double reach = std::max(scale, 1.0);  // half the width of the triangle
    most = static_cast<int>(std::ceil(reach)) * 2 + 1;
    weights.resize(first.size() * static_cast<size_t>(most));
    for (size_t i = 0; i < first.size(); ++i) {
      const double centre = (static_cast<double>(i) + 0.5) * scale;
      const int begin = std::max(static_cast<int>(centre - reach + 0.5), 0);
      const int end = std::min(static_cast<int>(centre + reach + 0.5), old_size);
      double* weight = weights.data() + i * static_cast<size_t>(most);
      double sum = 0;
      for (int x = begin; x < end; ++x) {
        weight[x - begin] = std::max(0.0, 1 - std::abs((x - centre + 0.5) / reach));
        sum += weight[x - begin];
      }
      for (int x = begin; x < end; ++x) weight[x - begin] /= sum;
      first[i] = begin;
      count[i] = end - begin;
    }
  }

  std::vector<int32_t> fixed_point() const {
    std::vector<int32_t> fixed(weights.size());
    for (size_t i = 0; i < fixed.size(); ++i) fixed[i] = static_cast<int32_t>(0.5 + weights[i] * (1 << kWeightBits));
    return fixed;
  }
};

// Weights are positive and sum to 1 within half a unit each, so that a sum never leaves 0..255.
uint8_t to_byte(int32_t sum) { return static_cast<uint8_t>(sum >> kWeightBits); }

// The rows of a part of an image.
struct Rows {
  const uint8_t* first;
  size_t stride;  // bytes from row to row
};

Rows rows_of(const Image& image, const Box& box) {
  return {image.row(box.top) + 3 * box.left, static_cast<size_t>(image.width) * 3};
}

// Along rows. The weights of the first and last rows' pixels never read beyond the row (Taps).
void resize_row(const uint8_t* in, const Taps& taps, const std::vector<int32_t>& weights, uint8_t* out) {
  for (size_t i = 0; i < taps.first.size(); ++i, out += 3) {
    const uint8_t* pixel = in + static_cast<ptrdiff_t>(taps.first[i]) * 3;
    const int32_t* weight = weights.data() + i * static_cast<size_t>(taps.most);
    int32_t red = kHalf, green = kHalf, blue = kHalf;
    for (int k = 0; k < taps.count[i]; ++k, pixel += 3) {
      red += pixel[0] * weight[k];
      green += pixel[1] * weight[k];
      blue += pixel[2] * weight[k];
    }
    out[0] = to_byte(red);
    out[1] = to_byte(green);
    out[2] = to_byte(blue);
  }
}

// Along columns, whole rows at a time: the mean of `count` rows of `size` bytes under `weight`.
CRISP_SIMD void mix_rows(Rows rows, size_t size, const int32_t* weight, int count, int32_t* sums, uint8_t* out) {
  for (size_t x = 0; x < size; ++x) sums[x] = kHalf;
  for (int k = 0; k < count; ++k, rows.first += rows.stride) {
    const uint8_t* in = rows.first;
    for (size_t x = 0; x < size; ++x) sums[x] += in[x] * weight[k];
  }
  for (size_t x = 0; x < size; ++x) out[x] = to_byte(sums[x]);
}

void check_sizes(int old_width, int old_height, int width, int height) {
  if (old_width > 0 && old_height > 0 && width > 0 && height > 0) return;
  throw Error("cannot resize {} x {} pixels to {} x {}: sizes are at least 1", old_width, old_height, width, height);
}

void check_inside(const Box& box, const Image& image) {
  const bool inside =
      box.left >= 0 && box.top >= 0 && box.width <= image.width - box.left && box.height <= image.height - box.top;
  if (inside) return;
  throw Error("{} x {} pixels at ({}, {}) do not lie inside {} x {}", box.width, box.height, box.left, box.top,
              image.width, image.height);
}

}  // namespace

void resize_into(const Image& image, const Box& from, Image& target, const Box& to) {
  check_sizes(from.width, from.height, to.width, to.height);
  check_inside(from, image);
  check_inside(to, target);
  Rows rows = rows_of(image, from);
  Image wide;
  if (from.width != to.width) {
    const Taps taps(from.width, to.width);
    const std::vector<int32_t> weights = taps.fixed_point();
    wide = Image(to.width, from.height);
    for (int y = 0; y < from.height; ++y)
      resize_row(rows.first + static_cast<size_t>(y) * rows.stride, taps, weights, wide.row(y));
    rows = rows_of(wide, {0, 0, to.width, from.height});
  }
  const size_t row_size = static_cast<size_t>(to.width) * 3;
  const Taps taps(from.height, to.height);
  const std::vector<int32_t> weights = taps.fixed_point();
  std::vector<int32_t> sums(row_size);
  for (size_t y = 0; y < taps.first.size(); ++y) {
    uint8_t* out = target.row(to.top + static_cast<int>(y)) + 3 * to.left;
    if (from.height == to.height) {
      std::copy_n(rows.first + y * rows.stride, row_size, out);
      continue;
    }
    const Rows under{rows.first + static_cast<size_t>(taps.first[y]) * rows.stride, rows.stride};
    mix_rows(under, row_size, weights.data() + y * static_cast<size_t>(taps.most), taps.count[y], sums.data(), out);
  }
}

Image resize(const Image& image, int width, int height) {
  check_sizes(image.width, image.height, width, height);
  if (width == image.width && height == image.height) return image;
  Image result(width, height);
  resize_into(image, {0, 0, image.width, image.height}, result, {0, 0, width, height});
  return result;
}

std::vector<float> resize_map(const std::vector<float>& map, int width, int height, int new_width, int new_height) {
  check_sizes(width, height, new_width, new_height);
  if (map.size() != static_cast<size_t>(width) * static_cast<size_t>(height)) {
    throw Error("a map of {} values is not {} x {}", map.size(), width, height);
  }
  const Taps across(width, new_width), down(height, new_height);
  const size_t old_row = static_cast<size_t>(width), new_row = static_cast<size_t>(new_width);
  std::vector<float> wide(new_row * static_cast<size_t>(height));
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    for (size_t x = 0; x < new_row; ++x) {
      const float* in = map.data() + y * old_row + across.first[x];
      const double* weight = across.weights.data() + x * static_cast<size_t>(across.most);
      double sum = 0;
      for (int k = 0; k < across.count[x]; ++k) sum += in[k] * weight[k];
      wide[y * new_row + x] = static_cast<float>(sum);
    }
  }
  std::vector<float> result(new_row * static_cast<size_t>(new_height));
  for (size_t y = 0; y < static_cast<size_t>(new_height); ++y) {
    float* out = result.data() + y * new_row;
    for (int k = 0; k < down.count[y]; ++k) {
      const float* in = wide.data() + static_cast<size_t>(down.first[y] + k) * new_row;
      const float weight =
          static_cast<float>(down.weights[y * static_cast<size_t>(down.most) + static_cast<size_t>(k)]);
      for (size_t x = 0; x < new_row; ++x) out[x] += in[x] * weight;
    }
  }
  return result;
}

Mask resize_nearest(const Mask& mask, int width, int height) {
  check_sizes(mask.width, mask.height, width, height);
  const auto source = [](int i, int old_size, int new_size) {
    const int64_t twice = 2 * static_cast<int64_t>(i) + 1;  // (i + 0.5) * old / new without rounding
    return static_cast<int>(twice * old_size / (2 * static_cast<int64_t>(new_size)));
  };
  std::vector<int> from(static_cast<size_t>(width));
  for (int x = 0; x < width; ++x) from[static_cast<size_t>(x)] = source(x, mask.width, width);
  Mask result(width, height);
  for (int y = 0; y < height; ++y) {
    const uint8_t* in = mask.row(source(y, mask.height, height));
    uint8_t* out = result.row(y);
    for (size_t x = 0; x < from.size(); ++x) out[x] = in[from[x]];
  }
  return result;
}

}  // namespace crisp::image
