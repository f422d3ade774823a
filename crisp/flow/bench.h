#pragma once

#include <string>

#include "crisp/model/config.h"
#include "crisp/tensor/torch.h"

namespace crisp::flow {

struct BenchOptions {
  std::string arch = "mit_b0";
  std::string ablation;  // row of the component table: which parts the network has
  int64_t width = 0;     // 0: the arch's default
  int64_t classes = 21;
  int64_t size = 512;
  int64_t batch = 1;
  torch::ScalarType dtype = torch::kFloat;
  torch::Device device = torch::kCPU;
  int64_t iterations = 0;  // 0: as many as fit three seconds, at least five
  int64_t warmup = 3;
  bool boundary = false;
  bool train = false;    // a training step instead of a pass; `dtype` is that of mixed precision then
  bool relabel = false;  // the teacher's view of photos too, in mixed precision
  bool network_only = false;
  bool encoder_only = false;  // of the network only the encoder; a ViT up to its last block
};

struct Timing {
  double median_ms = 0, p10_ms = 0, p90_ms = 0, images_per_s = 0;
  int64_t iterations = 0;
};

struct BenchReport {
  Timing network;                           // tensor in, logits out; or the encoder alone; or a whole training step
  Timing relabel;                           // the teacher's view, eight passes with dropout
  Timing end_to_end;                        // JPEG bytes in, mask out
  double peak_memory_mb = 0;                // of the process, or of the device
  int64_t parameters = 0;                   // of what is timed
  torch::ScalarType dtype = torch::kFloat;  // that of the passes: f32 where a ViT was to have bf16 that is not there
};

BenchReport bench(const BenchOptions& options);

}  // namespace crisp::flow
