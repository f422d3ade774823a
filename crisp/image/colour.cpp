#include "crisp/image/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "crisp/base/simd.h"

namespace crisp::image {
namespace {

constexpr std::array<float, 3> kLuma = {0.299f, 0.587f, 0.114f};

// Fixed point: colours times weights fit 32 bits with room for the sum of three.
constexpr int kShift = 16;

int to_fixed(float value) { return static_cast<int>(std::lround(value * (1 << kShift))); }

uint8_t from_fixed(int value) { return static_cast<uint8_t>(std::clamp(value >> kShift, 0, 255)); }

// Weights of one side and the centre of a blur.
std::vector<int> gaussian(float deviation) {
  const int radius = std::max(1, static_cast<int>(std::ceil(3 * deviation)));
  std::vector<float> weights;
  float sum = 0;
  for (int i = -radius; i <= radius; ++i) {
    weights.push_back(std::exp(-0.5f * static_cast<float>(i * i) / (deviation * deviation)));
    sum += weights.back();
  }
  std::vector<int> fixed;
  for (const float weight : weights) fixed.push_back(to_fixed(weight / sum));
  return fixed;
}

struct FixedMatrix {
  int weight[3][3], offset[3];
};

// All three are read before one is written, so that the compiler can use vectors.
CRISP_SIMD void apply_fixed(const FixedMatrix& map, uint8_t* rgb, size_t pixels) {
  for (size_t i = 0; i < pixels; ++i) {
    const int r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    uint8_t out[3];
    for (size_t c = 0; c < 3; ++c)
      out[c] = from_fixed(map.weight[c][0] * r + map.weight[c][1] * g + map.weight[c][2] * b + map.offset[c]);
    for (size_t c = 0; c < 3; ++c) rgb[3 * i + c] = out[c];
  }
}

CRISP_SIMD void add_weighted(const uint8_t* values, int weight, int* sum, size_t size) {
  for (size_t i = 0; i < size; ++i) sum[i] += weight * values[i];
}

CRISP_SIMD void end_sum(const int* sum, uint8_t* values, size_t size) {
  for (size_t i = 0; i < size; ++i) values[i] = from_fixed(sum[i]);
}

// In 32 bits, so for a row at most.
CRISP_SIMD void add_channels(const uint8_t* rgb, size_t pixels, uint64_t* sums) {
  uint32_t r = 0, g = 0, b = 0;
  for (size_t i = 0; i < pixels; ++i) {
    r += rgb[3 * i];
    g += rgb[3 * i + 1];
    b += rgb[3 * i + 2];
  }
  sums[0] += r;
  sums[1] += g;
  sums[2] += b;
}

}  // namespace

ColourMatrix ColourMatrix::after(const ColourMatrix& first) const {
  ColourMatrix chain;
  for (size_t r = 0; r < 3; ++r) {
    chain.offset[r] = offset[r];
    for (size_t c = 0; c < 3; ++c) {
      chain.matrix[r][c] = 0;
      for (size_t k = 0; k < 3; ++k) chain.matrix[r][c] += matrix[r][k] * first.matrix[k][c];
      chain.offset[r] += matrix[r][c] * first.offset[c];
    }
  }
  return chain;
}

ColourMatrix brightness(float factor) {
  ColourMatrix map;
  for (size_t i = 0; i < 3; ++i) map.matrix[i][i] = factor;
  return map;
}

ColourMatrix contrast(float factor, float pivot) {
  ColourMatrix map = brightness(factor);
  map.offset.fill((1 - factor) * pivot);
  return map;
}

ColourMatrix saturation(float factor) {
  ColourMatrix map;
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) map.matrix[r][c] = (1 - factor) * kLuma[c] + (r == c ? factor : 0);
  }
  return map;
}

ColourMatrix hue(float turn) {
  const float angle = 2 * std::numbers::pi_v<float> * turn;
  const float c = std::cos(angle), s = std::sin(angle);
  const ColourMatrix to_yiq{{{{0.299f, 0.587f, 0.114f}, {0.596f, -0.274f, -0.322f}, {0.211f, -0.523f, 0.312f}}},
                            {0, 0, 0}};
  const ColourMatrix turned{{{{1, 0, 0}, {0, c, -s}, {0, s, c}}}, {0, 0, 0}};
  // The inverse of to_yiq to six digits, so that no turn changes nothing.
  const ColourMatrix to_rgb{{{{1, 0.955701f, 0.619858f}, {1, -0.271582f, -0.646874f}, {1, -1.108177f, 1.705065f}}},
                            {0, 0, 0}};
  return to_rgb.after(turned.after(to_yiq));
}

void apply(const ColourMatrix& map, Image& image) {
  FixedMatrix fixed;
  for (size_t r = 0; r < 3; ++r) {
    fixed.offset[r] = to_fixed(std::clamp(map.offset[r], -8192.0f, 8192.0f)) + (1 << (kShift - 1));
    for (size_t c = 0; c < 3; ++c) fixed.weight[r][c] = to_fixed(std::clamp(map.matrix[r][c], -32.0f, 32.0f));
  }
  apply_fixed(fixed, image.rgb.data(), image.rgb.size() / 3);
}

float mean_luma(const Image& image) {
  uint64_t sums[3] = {0, 0, 0};
  for (int y = 0; y < image.height; ++y) add_channels(image.row(y), static_cast<size_t>(image.width), sums);
  double luma = 0;
  for (size_t c = 0; c < 3; ++c) luma += static_cast<double>(kLuma[c]) * static_cast<double>(sums[c]);
  return image.rgb.empty() ? 0 : static_cast<float>(luma * 3 / static_cast<double>(image.rgb.size()));
}

void blur(Image& image, float deviation) {
  if (deviation < 0.1f || image.rgb.empty()) return;
  const std::vector<int> weights = gaussian(deviation);
  const int radius = static_cast<int>(weights.size() / 2);
  const size_t row_size = static_cast<size_t>(image.width) * 3;
  std::vector<uint8_t> row(row_size + 6 * static_cast<size_t>(radius));
  std::vector<int> sum(row_size);
  // Along rows: the row is copied between repeated ends, then every tap is one pass over it.
  for (int y = 0; y < image.height; ++y) {
    uint8_t* pixels = image.row(y);
    for (int x = -radius; x < image.width + radius; ++x) {
      const int from = 3 * std::clamp(x, 0, image.width - 1);
      std::copy_n(pixels + from, 3, row.data() + 3 * (x + radius));
    }
    std::fill(sum.begin(), sum.end(), 1 << (kShift - 1));
    for (size_t t = 0; t < weights.size(); ++t) add_weighted(row.data() + 3 * t, weights[t], sum.data(), row_size);
    end_sum(sum.data(), pixels, row_size);
  }
  const Image source = image;
  for (int y = 0; y < image.height; ++y) {
    std::fill(sum.begin(), sum.end(), 1 << (kShift - 1));
    for (int t = -radius; t <= radius; ++t) {
      const uint8_t* shifted = source.row(std::clamp(y + t, 0, image.height - 1));
      add_weighted(shifted, weights[static_cast<size_t>(t + radius)], sum.data(), row_size);
    }
    end_sum(sum.data(), image.row(y), row_size);
  }
}

}  // namespace crisp::image
