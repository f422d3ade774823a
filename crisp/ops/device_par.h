#pragma once

#include "crisp/ops/par.h"
#include "crisp/tensor/torch.h"

namespace crisp::ops {

// What refines fastest on a device: `par` itself, or on a GPU kernels that do the same in a fraction of a millisecond.
// Any thread may call it. A photo whose neighbour weights would exceed ParOptions::memory stays on the CPU.
ParFunction par_on(torch::Device device);

}  // namespace crisp::ops
