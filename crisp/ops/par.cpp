#include "crisp/ops/par.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/simd.h"
#include "crisp/ops/fast_exp.h"
#include "crisp/ops/neighbours.h"

namespace crisp::ops {
namespace {

constexpr float kTiny = 1e-8f;  // keeps flat neighbourhoods finite, as in AFA's code

// Planes with their edge pixels repeated to the left and right, so that a neighbour's row is a shifted pointer.
// Above and below, the row number is clipped instead.
class Padded {
 public:
  Padded(size_t planes, int width, int height, int margin)
      : width_(width), height_(height), margin_(margin), stride_(static_cast<size_t>(width + 2 * margin)) {
    values_.resize(planes * static_cast<size_t>(height) * stride_);
  }
  float* row(size_t plane, int y) {
    return values_.data() + (plane * static_cast<size_t>(height_) + static_cast<size_t>(y)) * stride_ + margin_;
  }
  const float* row(size_t plane, int y) const { return const_cast<Padded*>(this)->row(plane, y); }
  const float* shifted(size_t plane, int y, int dy, int dx) const {
    return row(plane, std::clamp(y + dy, 0, height_ - 1)) + dx;
  }
  void repeat_edges(size_t plane) {
    for (int y = 0; y < height_; ++y) {
      float* at = row(plane, y);
      std::fill_n(at - margin_, margin_, at[0]);
      std::fill_n(at + width_, margin_, at[width_ - 1]);
    }
  }

 private:
  int width_, height_, margin_;
  size_t stride_;
  std::vector<float> values_;
};

CRISP_SIMD void add(const float* __restrict row, float* __restrict sum, size_t width) {
  for (size_t x = 0; x < width; ++x) sum[x] += row[x];
}

CRISP_SIMD void add_square(const float* __restrict row, const float* __restrict mean, float* __restrict sum,
                           size_t width) {
  for (size_t x = 0; x < width; ++x) sum[x] += (row[x] - mean[x]) * (row[x] - mean[x]);
}

CRISP_SIMD void sharpness(float* __restrict variance, float w1, float count, size_t width) {
  for (size_t x = 0; x < width; ++x) variance[x] = 1 / ((std::sqrt(variance[x] / (count - 1)) + kTiny) * w1);
}

CRISP_SIMD void subtract_square(const float* __restrict row, const float* __restrict centre,
                                const float* __restrict sharp, float* __restrict logit, size_t width) {
  for (size_t x = 0; x < width; ++x) {
    const float t = (row[x] - centre[x]) * sharp[x];
    logit[x] -= t * t * (1 / 3.0f);
  }
}

// Softmax over `count` rows of logits, a column at a time, then the position term and the common scale.
CRISP_SIMD void finish(float* __restrict weights, size_t count, size_t width, const float* place, float scale,
                       float* __restrict most, float* __restrict sum) {
  for (size_t x = 0; x < width; ++x) most[x] = weights[x], sum[x] = 0;
  for (size_t o = 1; o < count; ++o)
    for (size_t x = 0; x < width; ++x) most[x] = std::max(most[x], weights[o * width + x]);
  for (size_t o = 0; o < count; ++o)
    for (size_t x = 0; x < width; ++x) {
      const float e = exp_negative(std::max(weights[o * width + x] - most[x], -50.0f));
      weights[o * width + x] = e;
      sum[x] += e;
    }
  for (size_t x = 0; x < width; ++x) sum[x] = scale / sum[x];
  for (size_t o = 0; o < count; ++o)
    for (size_t x = 0; x < width; ++x) weights[o * width + x] = weights[o * width + x] * sum[x] + place[o] * scale;
}

CRISP_SIMD void add_product(const float* __restrict a, const float* __restrict b, float* __restrict sum, size_t width) {
  for (size_t x = 0; x < width; ++x) sum[x] += a[x] * b[x];
}

// The neighbour weights of one row, [offsets, width].
class RowWeights {
 public:
  RowWeights(std::span<const uint8_t> rgb, int width, int height, int margin, const std::vector<Offset>& offsets,
             const ParOptions& options)
      : image_(3, width, height, margin),
        offsets_(offsets),
        place_(par_place_weights(options)),
        w1_(options.w1),
        scale_(options.keep_sum ? 1 / (1 + options.w2) : 1),
        width_(static_cast<size_t>(width)),
        mean_(width_),
        spread_(width_) {
    for (size_t c = 0; c < 3; ++c) {
      for (int y = 0; y < height; ++y)
        for (size_t x = 0; x < width_; ++x) image_.row(c, y)[x] = rgb[(static_cast<size_t>(y) * width_ + x) * 3 + c];
      image_.repeat_edges(c);
    }
  }

  void compute(int y, float* weights) {
    const auto count = static_cast<float>(offsets_.size());
    std::fill_n(weights, offsets_.size() * width_, 0.0f);
    for (size_t c = 0; c < 3; ++c) {
      std::fill(mean_.begin(), mean_.end(), 0.0f);
      std::fill(spread_.begin(), spread_.end(), 0.0f);
      for (const Offset& o : offsets_) add(image_.shifted(c, y, o.dy, o.dx), mean_.data(), width_);
      for (float& mean : mean_) mean /= count;
      for (const Offset& o : offsets_)
        add_square(image_.shifted(c, y, o.dy, o.dx), mean_.data(), spread_.data(), width_);
      sharpness(spread_.data(), w1_, count, width_);
      for (size_t k = 0; k < offsets_.size(); ++k)
        subtract_square(image_.shifted(c, y, offsets_[k].dy, offsets_[k].dx), image_.row(c, y), spread_.data(),
                        weights + k * width_, width_);
    }
    finish(weights, offsets_.size(), width_, place_.data(), scale_, mean_.data(), spread_.data());
  }

 private:
  Padded image_;
  const std::vector<Offset>& offsets_;
  std::vector<float> place_;
  float w1_, scale_;
  size_t width_;
  std::vector<float> mean_, spread_;
};

}  // namespace

std::vector<float> par_place_weights(const ParOptions& options) {
  std::vector<double> distances, weights;
  double mean = 0, variance = 0, sum = 0;
  for (const Offset& o : neighbours(options.dilations)) distances.push_back(std::hypot(o.dy, o.dx));
  for (const double d : distances) mean += d / static_cast<double>(distances.size());
  for (const double d : distances) variance += (d - mean) * (d - mean) / static_cast<double>(distances.size() - 1);
  const auto logit = [&](double d) { return -std::pow(d / (std::sqrt(variance) + kTiny) / options.w1, 2); };
  const double most = logit(*std::min_element(distances.begin(), distances.end()));
  for (const double d : distances) sum += weights.emplace_back(std::exp(logit(d) - most));
  std::vector<float> result;
  for (const double w : weights) result.push_back(static_cast<float>(options.w2 * w / sum));
  return result;
}

void check_par(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
               std::span<float> refined, const ParOptions& options) {
  if (width < 1 || height < 1 || labels < 1)
    throw Error("PAR: an image of {} x {} pixels and {} labels; each must be at least 1", width, height, labels);
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  const size_t numbers = pixels * static_cast<size_t>(labels);
  if (rgb.size() != 3 * pixels || scores.size() != numbers || refined.size() != numbers)
    throw Error("PAR: {} x {} pixels and {} labels need {} bytes and {} numbers; given {}, {} and {}", width, height,
                labels, 3 * pixels, numbers, rgb.size(), scores.size(), refined.size());
  if (options.dilations.empty() || *std::min_element(options.dilations.begin(), options.dilations.end()) < 1 ||
      *std::max_element(options.dilations.begin(), options.dilations.end()) > 4096)
    throw UsageError("PAR: dilations are one or more numbers from 1 to 4096");
  if (!(options.w1 > 0 && std::isfinite(options.w1)) || !(options.w2 >= 0 && std::isfinite(options.w2)) ||
      options.iterations < 0)
    throw UsageError("PAR: w1 must be above 0, w2 and iterations not negative");
}

void par(std::span<const uint8_t> rgb, int width, int height, int labels, std::span<const float> scores,
         std::span<float> refined, const ParOptions& options) {
  check_par(rgb, width, height, labels, scores, refined, options);
  const auto w = static_cast<size_t>(width), h = static_cast<size_t>(height), count = static_cast<size_t>(labels);
  const int margin = *std::max_element(options.dilations.begin(), options.dilations.end());
  const std::vector<Offset> offsets = neighbours(options.dilations);
  RowWeights row_weights(rgb, width, height, margin, offsets, options);

  const size_t row_size = offsets.size() * w;
  const bool keep = h * row_size * sizeof(float) <= options.memory && options.iterations > 1;
  std::vector<float> weights(keep ? h * row_size : row_size);

  Padded now(count, width, height, margin), next(count, width, height, margin);
  for (size_t l = 0; l < count; ++l)
    for (size_t y = 0; y < h; ++y)
      for (size_t x = 0; x < w; ++x) {
        const float score = scores[(l * h + y) * w + x];
        now.row(l, static_cast<int>(y))[x] = std::isfinite(score) ? score : 0;
      }
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    for (size_t l = 0; l < count; ++l) now.repeat_edges(l);
    for (int y = 0; y < height; ++y) {
      float* row = weights.data() + (keep ? static_cast<size_t>(y) * row_size : 0);
      if (!keep || iteration == 0) row_weights.compute(y, row);
      for (size_t l = 0; l < count; ++l) std::fill_n(next.row(l, y), w, 0.0f);
      for (size_t k = 0; k < offsets.size(); ++k)
        for (size_t l = 0; l < count; ++l)
          add_product(row + k * w, now.shifted(l, y, offsets[k].dy, offsets[k].dx), next.row(l, y), w);
    }
    std::swap(now, next);
  }
  for (size_t l = 0; l < count; ++l)
    for (size_t y = 0; y < h; ++y) std::copy_n(now.row(l, static_cast<int>(y)), w, refined.data() + (l * h + y) * w);
}

}  // namespace crisp::ops
