#include "crisp/tensor/cuda.h"

#ifdef CRISP_CUDA
#include <c10/cuda/CUDAStream.h>
#endif

namespace crisp::tensor {

#ifdef CRISP_CUDA
bool built_with_cuda() { return true; }
void* current_stream(torch::Device device) { return c10::cuda::getCurrentCUDAStream(device.index()).stream(); }
#else
bool built_with_cuda() { return false; }
void* current_stream(torch::Device) { return nullptr; }
#endif

}  // namespace crisp::tensor
