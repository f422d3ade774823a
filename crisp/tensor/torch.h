#pragma once

// The one include of LibTorch, and the precompiled header of every room that uses tensors.
#include <torch/torch.h>
