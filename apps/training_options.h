#pragma once

#include "apps/command_line.h"
#include "crisp/data/augment.h"
#include "crisp/flow/features.h"
#include "crisp/train/trainer.h"

namespace crisp::apps {

// Photos and their tags, of whatever has these fields.
template <typename Options>
void bind_tagged_data(CLI::App& app, Options& o) {
  app.add_option("--data", o.data, "the data set: VOC, COCO, or a folder of photos with tags")->required();
  app.add_option("--split", o.split, "photos to learn from");
  app.add_option("--val", o.val, "photos to look at: a split, auto or none");
  app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
}

// Options that every training shares, bound once.
void bind_trainer(CLI::App& app, train::TrainerOptions& options);
void bind_augment(CLI::App& app, data::AugmentOptions& options);

// Of a frozen encoder, for every command that looks at photos with one.
void bind_features(CLI::App& app, flow::FeatureOptions& options);

// `--resume RUN`: the options of that run (its config.toml) and its folder, before what else was typed. Empty `run`
// when it was not asked for.
struct Resumed {
  Arguments arguments;
  std::string run;
};
Resumed with_resumed_options(const Arguments& arguments);

}  // namespace crisp::apps
