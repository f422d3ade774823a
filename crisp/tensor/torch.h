#pragma once

// The one include of LibTorch, and the precompiled header of every room that uses tensors. Tensors, modules and the
// two norms we take from torch: <torch/torch.h> would add seconds to every file for parts nobody here uses.
#include <torch/cuda.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
