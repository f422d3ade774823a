#pragma once

#include "crisp/model/config.h"
#include "crisp/model/encoder.h"
#include "crisp/model/vit_scales.h"
#include "crisp/tensor/checkpoint.h"

// A network on a frozen ViT is two files: its own, and the encoder's, which it names by sha256. Many models share one.
namespace crisp::model {

// The frozen part of an encoder; null where there is none (MiT).
VitScalesImpl* vit_scales(EncoderImpl& encoder);
std::shared_ptr<FrozenVit> frozen_of(EncoderImpl& encoder);

// The second stands on the same frozen ViT as the first. Nothing happens on MiT.
void share_foundation(EncoderImpl& from, EncoderImpl& to);

// What a model file says of it: how it is looked at, its file's name, its sha256.
void describe_foundation(EncoderImpl& encoder, tensor::Metadata& facts);

// How a model file looks at its frozen encoder, into `config`. An error names the file and the field.
void read_view(const tensor::Checkpoint& checkpoint, EncoderConfig& config);

// Sets `encoder` on the ViT that its model file names: the file of that sha256 beside the model, then among the weights
// shipped. An error says which file is missing, or that another one bears its name. Nothing happens on MiT.
void find_foundation(const tensor::Checkpoint& checkpoint, EncoderImpl& encoder);

// The sha256, in hexadecimal digits, of the frozen encoder that a model file names; empty where it names none.
std::string foundation_named_in(const Path& model_file);

// The frozen encoder in its own file or hub folder, or the one that a model or a run stands on.
std::shared_ptr<FrozenVit> load_foundation(const Path& encoder_or_model);

}  // namespace crisp::model
