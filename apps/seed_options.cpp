#include "apps/seed_options.h"

#include <fmt/format.h>

#include "crisp/base/text.h"

namespace crisp::apps {

void bind_refinement(CLI::App& app, RefineWords& words, seed::SeedOptions& options) {
  const char* group = "Refinement";
  app.add_option("--refine", words.refine, "none, or a chain of crf, par, affinity")->delimiter(',')->group(group);
  app.add_option("--crf", words.crf, "parameters by name: " + join(ops::crf_preset_names(), ", "))->group(group);
  app.add_option("--crf-iterations", words.crf_iterations, "of mean field; 0: the preset's")->group(group);
  app.add_option("--crf-scale", words.crf_scale, "divides the CRF's distances, for photos scaled down by this")
      ->check(CLI::PositiveNumber)
      ->group(group);
  app.add_option("--background", words.background,
                 "score of the background: a constant, or power:A for (1 - max)^A; auto: 0.45, on a ViT 0.5, for plain "
                 "maps there 0.4")
      ->group(group);
  app.add_option("--walk-steps", options.refine.walk_steps, "affinity: steps of the random walk")
      ->check(CLI::Range(1, 65536))
      ->group(group);
  app.add_option("--walk-on", words.walk_on,
                 "maps, before the background has its say, or posterior; where affinity is first")
      ->check(CLI::IsMember({"maps", "posterior"}))
      ->group(group);
  app.add_option("--untagged", words.untagged, "photos without tags: skip, or background")->group(group);
}

std::optional<seed::Background> apply(const RefineWords& words, seed::SeedOptions& options) {
  options.refine.chain = seed::parse_refinements(words.refine);
  options.refine.crf = ops::crf_preset(words.crf);
  if (words.crf_iterations > 0) options.refine.crf.iterations = words.crf_iterations;
  options.refine.crf.scale_factor = static_cast<float>(words.crf_scale);
  options.refine.walk_maps = words.walk_on == "maps";
  options.untagged = seed::parse_untagged(words.untagged);
  if (words.background == "auto") return std::nullopt;
  return options.background = seed::parse_background(words.background);
}

void print_seed_counts(const data::SeedFacts& facts, const Path& out) {
  int64_t pixels = facts.ignored_pixels;
  for (const int64_t count : facts.class_pixels) pixels += count;
  const auto share = [&](int64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(std::max<int64_t>(1, pixels));
  };
  fmt::print("{:<16} {:>8} {:>8}\n", "class", "photos", "pixels");
  for (size_t k = 0; k < facts.classes.size(); ++k) {
    fmt::print("{:<16} {:>8} {:>7.2f}%\n", facts.classes[k], facts.class_images[k], share(facts.class_pixels[k]));
  }
  if (facts.ignored_pixels > 0) fmt::print("{:<16} {:>8} {:>7.2f}%\n", "ignored", "", share(facts.ignored_pixels));
  fmt::print("\n{} seeds in {}", facts.images, out.string());
  if (facts.untagged > 0) fmt::print("; {} photo(s) without tags left out", facts.untagged);
  if (!facts.skipped.empty())
    fmt::print("; {} photo(s) could not be used (listed in seeds.json)", facts.skipped.size());
  fmt::print("\n");
}

}  // namespace crisp::apps
