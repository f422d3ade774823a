#include <cuda_runtime.h>

#include "crisp/ops/propagate_kernel.h"

namespace crisp::ops {
namespace {

constexpr int kColumns = 32, kRows = 8;
constexpr int kLabels = 4;  // a thread

constexpr int kDistances = static_cast<int>(kPropagateDistances.size());
__host__ __device__ constexpr int distance(int i) { return 1 << i; }
static_assert(kDistances == 4 && kPropagateDistances[0] == distance(0) && kPropagateDistances[1] == distance(1) &&
              kPropagateDistances[2] == distance(2) && kPropagateDistances[3] == distance(3));

// Calls f(number, dy, dx) for each neighbour.
template <typename F>
__device__ void each_offset(F&& f) {
  for (int i = 0; i < kDistances; ++i) {
#pragma unroll
    for (int at = 0, number = 8 * i; at < 9; ++at) {
      if (at != 4) f(number++, (at / 3 - 1) * distance(i), (at % 3 - 1) * distance(i));
    }
  }
}

// Where a cell's neighbours lie outside the frame they are the nearest cells inside. So the cells that ask `to` by an
// offset of d, along one side of `size` cells: first .. last, none where last < first.
struct Askers {
  int first, last;
  __device__ Askers(int to, int d, int size)
      : first(max(to == 0 ? 0 : to - d, 0)), last(min(to == size - 1 ? size - 1 : to - d, size - 1)) {}
};

struct Size {
  int labels, height, width;
};

// One step of kLabels labels of one cell of one photo; transposed, a cell collects from those that ask it.
template <bool transposed>
__global__ void step(Size s, const float* all_weights, const float* now, float* next) {
  const int x = blockIdx.x * kColumns + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  if (x >= s.width || y >= s.height) return;
  const int64_t cells = static_cast<int64_t>(s.width) * s.height;
  const int groups = (s.labels + kLabels - 1) / kLabels, photo = blockIdx.z / groups;
  const int first = blockIdx.z % groups * kLabels, count = min(kLabels, s.labels - first);
  const float* weights = all_weights + photo * kPropagateNeighbours * cells;
  const int64_t plane = (static_cast<int64_t>(photo) * s.labels + first) * cells;
  const int here = y * s.width + x;
  float sum[kLabels] = {};
  const auto add = [&](float weight, int from) {
#pragma unroll
    for (int l = 0; l < kLabels; ++l)
      if (l < count) sum[l] += weight * now[plane + l * cells + from];
  };
  each_offset([&](int k, int dy, int dx) {
    if (transposed) {
      const Askers rows(y, dy, s.height), columns(x, dx, s.width);
      for (int row = rows.first; row <= rows.last; ++row)
        for (int column = columns.first; column <= columns.last; ++column)
          add(weights[k * cells + row * s.width + column], row * s.width + column);
    } else {
      const int row = min(max(y + dy, 0), s.height - 1), column = min(max(x + dx, 0), s.width - 1);
      add(weights[k * cells + here], row * s.width + column);
    }
  });
#pragma unroll
  for (int l = 0; l < kLabels; ++l)
    if (l < count) next[plane + l * cells + here] = sum[l];
}

unsigned parts(int64_t size, int each) { return static_cast<unsigned>((size + each - 1) / each); }

}  // namespace

void propagate_cuda(const PropagateProblem& problem, int64_t photos, const float* in, float* out, float* scratch,
                    void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const Size size{static_cast<int>(problem.labels), static_cast<int>(problem.height), static_cast<int>(problem.width)};
  const dim3 threads(kColumns, kRows);
  const dim3 blocks(parts(problem.width, kColumns), parts(problem.height, kRows),
                    static_cast<unsigned>(photos) * parts(problem.labels, kLabels));
  float* to = problem.steps % 2 == 1 ? out : scratch;  // the last step writes `out`
  for (int64_t i = 0; i < problem.steps; ++i) {
    if (problem.transposed) {
      step<true><<<blocks, threads, 0, queue>>>(size, problem.weights, in, to);
    } else {
      step<false><<<blocks, threads, 0, queue>>>(size, problem.weights, in, to);
    }
    in = to;
    to = to == out ? scratch : out;
  }
}

}  // namespace crisp::ops
