#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "crisp/ops/weighted_upsample_kernel.h"

namespace crisp::ops {
namespace {

constexpr int kMostScales = 4;
constexpr int kLanes = 8;  // channels a thread: 16 bytes in half precision

struct Maps {
  const void* data[kMostScales];
  int height[kMostScales], width[kMostScales];
};

template <typename T>
struct alignas(sizeof(T) * kLanes) Pack {
  T lane[kLanes];
};

__device__ float to_float(float v) { return v; }
__device__ float to_float(__half v) { return __half2float(v); }
__device__ float to_float(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ void store(float& to, float v) { to = v; }
__device__ void store(__half& to, float v) { to = __float2half(v); }
__device__ void store(__nv_bfloat16& to, float v) { to = __float2bfloat16(v); }

__device__ void tap(int at, int out_size, int in_size, int& low, int& high, float& share) {
  const float scale = static_cast<float>(in_size) / static_cast<float>(out_size);
  const float position = fmaxf(0.0f, scale * (static_cast<float>(at) + 0.5f) - 0.5f);
  low = min(static_cast<int>(position), in_size - 1);
  high = min(low + 1, in_size - 1);
  share = position - static_cast<float>(low);
}

template <typename T>
__device__ void add(float* sum, const T* from, float factor) {
  const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(from);
#pragma unroll
  for (int i = 0; i < kLanes; ++i) sum[i] += factor * to_float(pack.lane[i]);
}

// One thread writes kLanes channels of one output pixel; neighbouring threads take neighbouring channels.
template <typename T>
__global__ void fuse(Maps maps, int scales, const float* weights, T* out, int64_t total, int channels, bool relu) {
  const int64_t index = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (index >= total) return;
  const int groups = channels / kLanes, height = maps.height[0], width = maps.width[0];
  const int c = static_cast<int>(index % groups) * kLanes;
  const int64_t pixel = index / groups;
  const int x = static_cast<int>(pixel % width), y = static_cast<int>(pixel / width % height);
  const int64_t n = pixel / width / height;
  float sum[kLanes] = {};
  for (int s = 0; s < scales; ++s) {
    const float w =
        weights == nullptr ? 1.0f : weights[((n * scales + s) * height + y) * static_cast<int64_t>(width) + x];
    const int mh = maps.height[s], mw = maps.width[s];
    const T* base = static_cast<const T*>(maps.data[s]) + n * mh * mw * static_cast<int64_t>(channels) + c;
    const auto at = [&](int row, int column) { return base + (static_cast<int64_t>(row) * mw + column) * channels; };
    if (mh == height && mw == width) {
      add(sum, at(y, x), w);
      continue;
    }
    int y0, y1, x0, x1;
    float ly, lx;
    tap(y, height, mh, y0, y1, ly);
    tap(x, width, mw, x0, x1, lx);
    add(sum, at(y0, x0), w * (1 - ly) * (1 - lx));
    add(sum, at(y0, x1), w * (1 - ly) * lx);
    add(sum, at(y1, x0), w * ly * (1 - lx));
    add(sum, at(y1, x1), w * ly * lx);
  }
  Pack<T> pack;
#pragma unroll
  for (int i = 0; i < kLanes; ++i) store(pack.lane[i], relu ? fmaxf(sum[i], 0.0f) : sum[i]);
  *reinterpret_cast<Pack<T>*>(out + index * kLanes) = pack;
}

template <typename T>
void launch(const UpsampleProblem& problem, void* out, cudaStream_t stream) {
  Maps maps{};
  for (int s = 0; s < problem.scales; ++s) {
    maps.data[s] = problem.maps[s].data;
    maps.height[s] = static_cast<int>(problem.maps[s].height);
    maps.width[s] = static_cast<int>(problem.maps[s].width);
  }
  const int64_t total = problem.batch * maps.height[0] * maps.width[0] * (problem.channels / kLanes);
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((total + kThreads - 1) / kThreads);
  fuse<T><<<blocks, kThreads, 0, stream>>>(maps, problem.scales, problem.weights, static_cast<T*>(out), total,
                                           static_cast<int>(problem.channels), problem.relu);
}

}  // namespace

void weighted_upsample_cuda(const UpsampleProblem& problem, UpsampleType type, void* out, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  switch (type) {
    case UpsampleType::kFloat:
      return launch<float>(problem, out, queue);
    case UpsampleType::kHalf:
      return launch<__half>(problem, out, queue);
    case UpsampleType::kBfloat16:
      return launch<__nv_bfloat16>(problem, out, queue);
  }
}

}  // namespace crisp::ops
