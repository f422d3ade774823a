#pragma once

#include "apps/command_line.h"
#include "crisp/flow/train_classifier.h"

namespace crisp::apps {

// What a tag classifier learns from, and how; `classify` has it on its command line, `run` writes it beside its own.
void bind_classifier(CLI::App& app, flow::ClassifierOptions& options);

// What the encoder decides of the options that were not given.
void take_arch(CLI::App& app, flow::ClassifierOptions& options);

}  // namespace crisp::apps
