#include "crisp/tensor/cuda.h"

#ifdef CRISP_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace crisp::tensor {

void forbid_tf32() {
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setAllowTF32CuBLAS(false);
}

void synchronise(torch::Device device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

#ifdef CRISP_CUDA
bool built_with_cuda() { return true; }
void* current_stream(torch::Device device) { return c10::cuda::getCurrentCUDAStream(device.index()).stream(); }
double peak_device_memory_mb(torch::Device device) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.has_index() ? device.index() : 0);
  return static_cast<double>(stats.allocated_bytes[0].peak) / 1e6;
}
#else
bool built_with_cuda() { return false; }
void* current_stream(torch::Device) { return nullptr; }
double peak_device_memory_mb(torch::Device) { return 0; }
#endif

}  // namespace crisp::tensor
