#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "crisp/base/progress.h"
#include "crisp/report/run_log.h"
#include "crisp/report/tensorboard.h"
#include "crisp/tensor/autocast.h"
#include "crisp/train/checkpoint.h"
#include "crisp/train/ema.h"
#include "crisp/train/task.h"

namespace crisp::train {

struct TrainerOptions {
  int64_t epochs = 10;
  int64_t accumulate = 1;   // batches a step
  double clip = 5;          // most norm of all gradients together; 0: no limit
  std::string amp = "f32";  // f32, bf16, or fp16 with a scaled loss
  double ema_decay = 0.999;
  ScheduleOptions schedule;
  int64_t validate_every = 1;    // epochs; 0: never
  int64_t checkpoint_every = 1;  // epochs
  uint64_t seed = 0;
};

void check(const TrainerOptions& options);

// The one training loop. All that it needs to go on is saved: weights, teacher, optimizer, the step (which is the
// loader's position too). The randomness of a step comes from the seed and its number alone, so a run that was
// killed and goes on ends with the same bits as one that was not (on the CPU).
//
// A step whose loss or gradients are not finite changes nothing and is counted; three in a row end the run with an
// Error that names the images and the parts of the loss.
class Trainer {
 public:
  // `run` is the run folder: log.jsonl and checkpoints/ are written there, and model.safetensors at the end.
  Trainer(Task& task, const TrainerOptions& options, torch::Device device, Path run);

  // Goes on from the newest checkpoint, if there is one.
  void resume();

  // True when training is complete; false when `stop` asked to end early (everything is saved then).
  bool run(const std::function<bool()>& stop);

  int64_t step() const { return step_; }
  int64_t steps() const { return steps_; }
  int64_t skipped_steps() const { return skipped_; }
  double seconds() const;  // of training, in this process and before
  const Numbers& last_validation() const { return validation_; }

 private:
  struct Pending {
    int64_t step;
    torch::Tensor numbers;  // total, parts, gradient norm, 1 when skipped
    std::vector<std::string> names, images;
    double rate;
  };

  Moment now() const;
  void prepare();
  Losses forward_and_backward();
  torch::Tensor update(const torch::Tensor& loss);
  void note(const Losses& losses, const torch::Tensor& norm);
  void read_notes();
  void finish_epoch();
  std::string log_numbers(int64_t step, const std::string& what, const Numbers& numbers);
  void save();
  void guard_statistics();

  Task& task_;
  const TrainerOptions options_;
  const torch::Device device_;
  const torch::ScalarType amp_;
  const Path folder_;
  const int64_t steps_per_epoch_, steps_;
  AdamW optimizer_;
  std::unique_ptr<Ema> ema_;
  CheckpointFolder checkpoints_;
  report::RunLog log_;
  std::unique_ptr<report::EventWriter> events_;
  std::unique_ptr<Progress> progress_;
  int64_t step_ = 0, skipped_ = 0, bad_in_a_row_ = 0;
  torch::Tensor scale_, skip_;                                 // of the loss (fp16); 1 where the step must not count
  torch::Tensor good_steps_;                                   // since the scale last changed
  std::vector<torch::Tensor> statistics_, statistics_before_;  // of batch norms
  std::vector<std::string> images_;                            // of the step being made
  std::deque<Pending> pending_;
  Numbers validation_;
  double seconds_before_ = 0;  // of training before this process
  std::chrono::steady_clock::time_point start_;
  double waited_ = 0;  // seconds, for the loader
  int64_t images_done_ = 0;
};

}  // namespace crisp::train
