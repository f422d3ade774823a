#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crisp::ops {

// Sums over all pairs of points with a Gaussian of their distance, out_i = sum_j exp(-|f_i - f_j|^2 / 2) in_j up to
// one constant factor, in time linear in the number of points: the permutohedral lattice of Adams, Baek and
// Davis (2010). Values are spread over the vertices of the simplex around each f_i, blurred along each of the lattice's
// directions, and read back with the same weights.
//
// Two additions make it follow the exact sums more closely. A sparse lattice loses what should travel through
// vertices that no point touches: neighbours of touched vertices are added where the budget allows ("filled").
// In a filled lattice a point's weight on itself is known in closed form, and corrected to the exact one.
//
// Five dimensions, because the kernel that needs it lives on (x, y, r, g, b). Built once per image, then used for
// every iteration and label; read-only after that.
class Permutohedral {
 public:
  static constexpr size_t kDimensions = 5;
  static constexpr size_t kVertices = kDimensions + 1;
  static constexpr size_t kLanes = 4;

  // features: kDimensions planes of `count` finite numbers, already divided by their sigmas. The lattice is filled
  // if that takes at most fill_budget vertices. Throws Error when the range of the features is beyond what a key of
  // 64 bits holds.
  Permutohedral(std::span<const float> features, size_t count, size_t fill_budget);

  size_t vertices() const { return vertices_; }
  bool filled() const { return !self_.empty(); }

  // in, out: `count` points of `channels` floats, a multiple of kLanes. The two may be the same buffer.
  void filter(const float* in, float* out, size_t channels) const;

 private:
  template <size_t Width>
  void filter_block(const float* in, float* out, size_t stride, std::vector<float>& scratch) const;

  // Vertex numbers start at 1: number 0 stands for a missing vertex and always holds zeros.
  struct Neighbours {
    uint32_t before = 0, after = 0;
  };
  size_t vertices_ = 0;
  std::vector<std::array<uint32_t, kVertices>> simplex_;       // [count]
  std::vector<std::array<float, kVertices>> weight_;           // [count], barycentric
  std::vector<float> self_;                                    // [count], what a point's own weight lacks
  std::array<std::vector<Neighbours>, kVertices> neighbours_;  // a direction, then a vertex
};

}  // namespace crisp::ops
