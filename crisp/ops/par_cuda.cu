#include <cuda_runtime.h>

#include "crisp/ops/par_kernel.h"

namespace crisp::ops {
namespace {

constexpr int kColumns = 32, kRows = 8;
constexpr int kLabels = 4;  // a thread
constexpr float kTiny = 1e-8f;

// Calls f(number, pixel) for each neighbour of (x, y); outside the frame it is the nearest pixel inside.
template <typename F>
__device__ void each_neighbour(const ParProblem& p, int x, int y, F&& f) {
  int number = 0;
  for (int i = 0; i < p.count; ++i) {
    const int d = p.dilations[i];
#pragma unroll
    for (int at = 0; at < 9; ++at) {
      if (at == 4) continue;
      const int row = min(max(y + (at / 3 - 1) * d, 0), p.height - 1);
      const int column = min(max(x + (at % 3 - 1) * d, 0), p.width - 1);
      f(number++, row * p.width + column);
    }
  }
}

__global__ void weigh(ParProblem p) {
  const int x = blockIdx.x * kColumns + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  if (x >= p.width || y >= p.height) return;
  const int64_t pixels = static_cast<int64_t>(p.width) * p.height;
  const int here = y * p.width + x;
  const float neighbours = static_cast<float>(8 * p.count);
  float mean[3] = {}, sharp[3] = {};
  each_neighbour(p, x, y, [&](int, int q) {
    for (int c = 0; c < 3; ++c) mean[c] += p.rgb[q * 3 + c];
  });
  for (float& m : mean) m /= neighbours;
  each_neighbour(p, x, y, [&](int, int q) {
    for (int c = 0; c < 3; ++c) sharp[c] += (p.rgb[q * 3 + c] - mean[c]) * (p.rgb[q * 3 + c] - mean[c]);
  });
  for (float& s : sharp) s = 1 / ((sqrtf(s / (neighbours - 1)) + kTiny) * p.w1);
  float most = -INFINITY, sum = 0;
  each_neighbour(p, x, y, [&](int k, int q) {
    float logit = 0;
    for (int c = 0; c < 3; ++c) {
      const float t = (static_cast<float>(p.rgb[q * 3 + c]) - static_cast<float>(p.rgb[here * 3 + c])) * sharp[c];
      logit -= t * t * (1 / 3.0f);
    }
    p.weights[k * pixels + here] = logit;
    most = fmaxf(most, logit);
  });
  for (int k = 0; k < 8 * p.count; ++k) {
    const float e = expf(p.weights[k * pixels + here] - most);
    p.weights[k * pixels + here] = e;
    sum += e;
  }
  for (int k = 0; k < 8 * p.count; ++k) {
    p.weights[k * pixels + here] = (p.weights[k * pixels + here] / sum + p.place[k]) * p.scale;
  }
}

__global__ void step(ParProblem p, const float* now, float* next) {
  const int x = blockIdx.x * kColumns + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  if (x >= p.width || y >= p.height) return;
  const int64_t pixels = static_cast<int64_t>(p.width) * p.height;
  const int here = y * p.width + x, first = blockIdx.z * kLabels, count = min(kLabels, p.labels - first);
  float sum[kLabels] = {};
  each_neighbour(p, x, y, [&](int k, int q) {
    const float weight = p.weights[k * pixels + here];
#pragma unroll
    for (int l = 0; l < kLabels; ++l)
      if (l < count) sum[l] += weight * now[(first + l) * pixels + q];
  });
#pragma unroll
  for (int l = 0; l < kLabels; ++l)
    if (l < count) next[(first + l) * pixels + here] = sum[l];
}

unsigned parts(int size, int each) { return static_cast<unsigned>((size + each - 1) / each); }

}  // namespace

float* par_cuda(const ParProblem& problem, float* scores, float* scratch, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const dim3 threads(kColumns, kRows);
  const dim3 blocks(parts(problem.width, kColumns), parts(problem.height, kRows));
  weigh<<<blocks, threads, 0, queue>>>(problem);
  float *now = scores, *next = scratch;
  for (int i = 0; i < problem.iterations; ++i) {
    step<<<dim3(blocks.x, blocks.y, parts(problem.labels, kLabels)), threads, 0, queue>>>(problem, now, next);
    float* done = next;
    next = now;
    now = done;
  }
  return now;
}

}  // namespace crisp::ops
