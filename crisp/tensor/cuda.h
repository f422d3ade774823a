#pragma once

#include "crisp/tensor/torch.h"

namespace crisp::tensor {

// Whether this program carries CUDA kernels; the one question about the build that code may ask.
bool built_with_cuda();

// The stream torch queues work on, as the raw handle our kernels take (null without CUDA).
void* current_stream(torch::Device device);

// Waits until the device has done all queued work; nothing to do on the CPU.
void synchronise(torch::Device device);

// Makes f32 mean f32 on GPUs too: torch computes f32 convolutions in TF32 (10 bits) unless told otherwise.
void forbid_tf32();

// The most memory torch ever held on that device, in MB.
double peak_device_memory_mb(torch::Device device);

}  // namespace crisp::tensor
