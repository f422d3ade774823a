#pragma once

#include "apps/command_line.h"
#include "crisp/data/augment.h"
#include "crisp/train/trainer.h"

namespace crisp::apps {

// Options that every training shares, bound once.
void bind_trainer(CLI::App& app, train::TrainerOptions& options);
void bind_augment(CLI::App& app, data::AugmentOptions& options);

// `--resume RUN`: the options of that run (its config.toml) and its folder, before what else was typed. Empty `run`
// when it was not asked for.
struct Resumed {
  Arguments arguments;
  std::string run;
};
Resumed with_resumed_options(const Arguments& arguments);

}  // namespace crisp::apps
