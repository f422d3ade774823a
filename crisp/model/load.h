#pragma once

#include <string>

#include "crisp/base/files.h"
#include "crisp/model/segmenter.h"
#include "crisp/tensor/checkpoint.h"
#include "crisp/tensor/model_file.h"

namespace crisp::model {

// A network from any checkpoint with a segmentation head: our model file, a run folder, a hub folder, or the
// public code's .pth. In evaluation mode, on the CPU, f32. An encoder alone is an error that says so.
Segmenter load_segmenter(const Path& file_or_folder);

// The model file of a run folder; any other path as it is.
Path model_inside(const Path& file_or_run);

// The encoder a checkpoint holds: a known one by its name, another by the shapes of its tensors.
EncoderConfig encoder_shape_of(const tensor::Checkpoint& checkpoint);

// Copies a checkpoint's encoder into `encoder` and leaves the rest of the file alone: how training starts.
void load_encoder(EncoderImpl& encoder, const Path& file_or_folder);

// One safetensors file that is complete by itself. `extra` goes into its metadata.
void save_segmenter(const Path& path, const Segmenter& network, torch::ScalarType type = torch::kFloat32,
                    const tensor::Metadata& extra = {});

// A network made of the one in `origin`, in the precision of that file and with what it says of itself (that it learned
// from masks, say), `more` added.
void save_changed(const Path& path, const Segmenter& network, const Path& origin, const tensor::Metadata& more);

}  // namespace crisp::model
