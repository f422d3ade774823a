#pragma once

#include <optional>

#include "apps/command_line.h"
#include "crisp/flow/seeds.h"

namespace crisp::apps {

// Words of the refinement options, shared by `seeds` and `seeds-import`.
struct RefineWords {
  std::vector<std::string> refine = {"par"};
  std::string crf = ops::kDefaultCrf, background = "auto", untagged = "skip", walk_on = "maps";
  int crf_iterations = 0;  // 0: the preset's
  double crf_scale = 1;
};

void bind_refinement(CLI::App& app, RefineWords& words, seed::SeedOptions& options);

// The words read into `options`; UsageError for what makes no sense. Returns the background, where one is named.
std::optional<seed::Background> apply(const RefineWords& words, seed::SeedOptions& options);

// Counts of a finished seed folder, on stdout.
void print_seed_counts(const data::SeedFacts& facts, const Path& out);

}  // namespace crisp::apps
