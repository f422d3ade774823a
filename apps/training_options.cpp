#include "apps/training_options.h"

#include "crisp/base/error.h"
#include "crisp/base/files.h"

namespace crisp::apps {

void bind_trainer(CLI::App& app, train::TrainerOptions& o) {
  const char* group = "Training";
  app.add_option("--epochs", o.epochs, "passes over the photos")->group(group);
  app.add_option("--accumulate", o.accumulate, "batches whose gradients make one step")->group(group);
  app.add_option("--clip", o.clip, "most norm of the gradients; 0: no limit")->group(group);
  app.add_option("--amp", o.amp, "precision of products and convolutions: f32, bf16 or fp16")->group(group);
  app.add_option("--decay", o.schedule.decay, "of the learning rates: constant, linear, poly, cosine")->group(group);
  app.add_option("--power", o.schedule.power, "of poly")->group(group);
  app.add_option("--warmup", o.schedule.warmup_epochs, "epochs in which the rates rise")->group(group);
  app.add_option("--validate-every", o.validate_every, "epochs between validations; 0: never")->group(group);
  app.add_option("--checkpoint-every", o.checkpoint_every, "epochs between checkpoints")->group(group);
}

void bind_augment(CLI::App& app, data::AugmentOptions& o) {
  const char* group = "Augmentation";
  app.add_option("--crop", o.crop, "side of the square that is learned from; -1: by the photos' size")->group(group);
  app.add_option("--scale-low", o.scale_low, "random scale, from")->group(group);
  app.add_option("--scale-high", o.scale_high, "random scale, to")->group(group);
  app.add_option("--flip", o.flip, "probability of mirroring")->group(group);
  app.add_option("--jitter", o.jitter, "probability of changing colours")->group(group);
  app.add_option("--brightness", o.brightness, "most change")->group(group);
  app.add_option("--contrast", o.contrast, "most change")->group(group);
  app.add_option("--saturation", o.saturation, "most change")->group(group);
  app.add_option("--hue", o.hue, "most change")->group(group);
  app.add_option("--blur", o.blur, "probability of blurring")->group(group);
  app.add_option("--grey", o.grey, "probability of a grey photo")->group(group);
}

void bind_features(CLI::App& app, flow::FeatureOptions& o) {
  const char* group = "Features of a frozen encoder (vit_s14)";
  app.add_option("--features", o.folder,
                 "folder that keeps them, made once and shared by all commands; by default `features` beside --out")
      ->group(group);
  app.add_option("--cache-gb", o.most_gb, "most disk they may take, in GB (2.4 MB a photo); 0: keep none")
      ->group(group);
}

Resumed with_resumed_options(const Arguments& arguments) {
  Resumed result{arguments, ""};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string joined = "--resume=";
    const bool apart = arguments[i] == "--resume";
    if (!apart && !arguments[i].starts_with(joined)) continue;
    if (apart && i + 1 == arguments.size()) throw UsageError("--resume: name the run folder");
    result.run = apart ? arguments[i + 1] : arguments[i].substr(joined.size());
    const auto begin = result.arguments.begin() + static_cast<ptrdiff_t>(i);
    result.arguments.erase(begin, begin + (apart ? 2 : 1));
    const Path config = Path(result.run) / "config.toml";
    if (!std::filesystem::exists(config)) {
      throw UsageError("--resume {}: no config.toml in it, so there is no run to go on with", result.run);
    }
    for (const std::string& more : {std::string("--config"), config.string(), std::string("--out"), result.run}) {
      result.arguments.push_back(more);
    }
    return result;
  }
  return result;
}

}  // namespace crisp::apps
