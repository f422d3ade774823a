// Loading a checkpoint into a network, from a warm file cache: SegFormer-B5 in f32 is 330 MB.
#include <benchmark/benchmark.h>

#include "crisp/model/load.h"

namespace crisp {
namespace {

void load(benchmark::State& state, const std::string& arch) {
  model::SegmenterConfig config;
  config.encoder = model::encoder_config(arch);
  config.head = model::ablation_row("A0", 768, 21);
  config.classes = voc_classes();
  const TemporaryFolder folder;
  const Path file = folder.path() / "model.safetensors";
  model::save_segmenter(file, model::make_segmenter(config));
  for (auto _ : state) benchmark::DoNotOptimize(model::load_segmenter(file));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(std::filesystem::file_size(file)));
}

BENCHMARK_CAPTURE(load, mit_b0, "mit_b0")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(load, mit_b5, "mit_b5")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace crisp
