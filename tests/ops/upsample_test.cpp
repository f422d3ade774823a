// Fused kernels against the plain versions made of torch's operators.
#include "crisp/ops/upsample_labels.h"

#include <mutex>
#include <set>
#include <thread>

#include "crisp/ops/weighted_upsample.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

std::vector<torch::Tensor> maps_of(int64_t batch, int64_t channels, std::vector<std::pair<int64_t, int64_t>> sizes) {
  std::vector<torch::Tensor> maps;
  for (const auto& [h, w] : sizes) {
    maps.push_back(torch::randn({batch, channels, h, w}).contiguous(torch::MemoryFormat::ChannelsLast));
  }
  return maps;
}

struct Type {
  torch::ScalarType type;
  double tolerance;
};

TEST(WeightedUpsample, MatchesTheReference) {
  torch::manual_seed(1);
  const torch::NoGradGuard no_grad;
  const std::vector<std::vector<std::pair<int64_t, int64_t>>> cases = {{{16, 16}, {8, 8}, {4, 4}, {2, 2}},
                                                                       {{9, 11}, {5, 6}, {3, 3}, {2, 2}},
                                                                       {{1, 13}, {1, 7}, {1, 4}, {1, 2}},
                                                                       {{7, 3}}};
  for (const torch::Device& device : devices()) {
    for (const Type& t : {Type{torch::kFloat, 1e-5}, Type{torch::kHalf, 4e-3}, Type{torch::kBFloat16, 3e-2}}) {
      for (const auto& sizes : cases) {
        for (const int64_t channels : {1, 16, 37}) {
          auto maps = maps_of(2, channels, sizes);
          const auto scales = static_cast<int64_t>(maps.size());
          const torch::Tensor random = torch::rand({2, scales, sizes[0].first, sizes[0].second});
          for (const torch::Tensor& weights : {torch::Tensor(), random}) {
            for (const bool relu : {false, true}) {
              const torch::Tensor expected = ops::weighted_upsample_reference(maps, weights, relu);
              std::vector<torch::Tensor> moved;
              for (const torch::Tensor& map : maps) moved.push_back(map.to(device, t.type));
              const torch::Tensor w = weights.defined() ? weights.to(device) : weights;
              expect_close("fused", ops::weighted_upsample(moved, w, relu), expected, t.tolerance);
            }
          }
        }
      }
    }
  }
}

TEST(WeightedUpsample, TakesPlainMemoryAndGivesGradients) {
  torch::manual_seed(2);
  std::vector<torch::Tensor> maps = {torch::randn({1, 4, 8, 8}), torch::randn({1, 4, 4, 4})};
  const torch::Tensor weights = torch::rand({1, 2, 8, 8});
  {
    const torch::NoGradGuard no_grad;
    expect_close("not channels-last", ops::weighted_upsample(maps, weights),
                 ops::weighted_upsample_reference(maps, weights, false), 1e-5);
  }
  maps[1].requires_grad_(true);
  ops::weighted_upsample(maps, weights).sum().backward();
  EXPECT_GT(maps[1].grad().abs().sum().item<float>(), 0);
}

TEST(Threads, OurLoopsUseThem) {
  const int before = torch::get_num_threads();
  torch::set_num_threads(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  at::parallel_for(0, 64, 1, [&](int64_t, int64_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  torch::set_num_threads(before);
  EXPECT_EQ(threads.size(), 2u) << "compiled without -fopenmp, at::parallel_for runs on one core";
}

TEST(UpsampleLabels, MatchesTheReference) {
  torch::manual_seed(3);
  for (const auto& [h, w] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {3, 9}, {16, 12}}) {
    const torch::Tensor logits = torch::randn({5, h, w});
    for (const auto& [height, width] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {4 * h, 4 * w}, {4 * h - 3, 4 * w - 1}}) {
      const torch::Tensor expected = ops::upsample_labels_reference(logits, height, width);
      for (const torch::Device& device : devices()) {
        const torch::Tensor got = ops::upsample_labels(logits.to(device), height, width);
        EXPECT_EQ((got != expected).sum().item<int64_t>(), 0) << h << "x" << w << " to " << height << "x" << width;
      }
    }
  }
}

}  // namespace
}  // namespace crisp::test
