// Propagation of scores along a photo's colours, as a student of VOC photos at zoom 1.5 does it: 21 classes, 90x120
// cells, 10 steps. The peer is the same walk by torch's own operators.
#include <benchmark/benchmark.h>

#include "crisp/ops/propagate.h"

namespace {

constexpr int64_t kClasses = 21, kHeight = 90, kWidth = 120, kSteps = 10;

struct Problem {
  torch::Tensor scores = torch::randn({1, kClasses, kHeight, kWidth});
  torch::Tensor photo = torch::rand({1, 3, kHeight, kWidth});
  torch::Tensor weights = crisp::ops::propagation_weights(photo);
};

template <typename Work>
void timed(benchmark::State& state, Work work) {
  at::set_num_threads(static_cast<int>(state.range(0)));
  torch::manual_seed(1);
  const Problem problem;
  const torch::InferenceMode inference;
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(work(problem));
}

void weights(benchmark::State& state) {
  timed(state, [](const Problem& p) { return crisp::ops::propagation_weights(p.photo); });
}
void weights_by_torch(benchmark::State& state) {
  timed(state, [](const Problem& p) { return crisp::ops::propagation_weights_reference(p.photo); });
}
void walk(benchmark::State& state) {
  timed(state, [](const Problem& p) { return crisp::ops::propagate(p.scores, p.weights, kSteps); });
}
void walk_by_torch(benchmark::State& state) {
  timed(state, [](const Problem& p) { return crisp::ops::propagate_reference(p.scores, p.weights, kSteps); });
}
BENCHMARK(weights)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(weights_by_torch)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(walk)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(walk_by_torch)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
