#pragma once

// LibTorch's L-BFGS, apart from torch.h since few files want it.
#include <torch/optim/lbfgs.h>
