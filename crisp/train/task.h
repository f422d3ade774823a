#pragma once

#include <string>
#include <utility>
#include <vector>

#include "crisp/data/loader.h"
#include "crisp/tensor/state_dict.h"
#include "crisp/train/adamw.h"
#include "crisp/train/schedule.h"

namespace crisp::train {

// A loss and what it is made of, as scalars on the device: nobody waits for the GPU to read them.
struct Losses {
  torch::Tensor total;
  std::vector<std::pair<std::string, torch::Tensor>> parts;
};

using Numbers = std::vector<std::pair<std::string, double>>;

// What is learned: the network, its data, its loss. The trainer does the rest, the same for every task.
class Task {
 public:
  virtual ~Task() = default;

  virtual std::string name() const = 0;  // "classify", "affinity", "segment"
  virtual torch::nn::Module& network() = 0;
  virtual torch::nn::Module* teacher() { return nullptr; }  // a second network for the running mean, if wanted
  virtual std::vector<ParameterGroup> groups() = 0;
  virtual data::Loader& loader() = 0;

  // Forward pass and loss of one batch, the network being in training mode.
  virtual Losses losses(const std::vector<data::Example>& batch, const Moment& now) = 0;

  // Called before every step; Stage C relabels here. What it returns goes into the log, under the step to come.
  virtual Numbers prepare(const Moment&) { return {}; }

  // Numbers for looking at, after an epoch; in evaluation mode, without gradients. Empty when there is nothing to see.
  virtual Numbers validate(const Moment&) { return {}; }

  // State beyond networks, optimizer and loader position: text by name, kept in the checkpoint.
  virtual tensor::Metadata state() const { return {}; }
  virtual void restore(const tensor::Metadata&) {}

  // Writes the finished model.
  virtual void save(const Path& file) = 0;
};

}  // namespace crisp::train
