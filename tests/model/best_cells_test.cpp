// The mean of a map's best cells, padding left out.
#include "crisp/model/best_cells.h"

#include <gtest/gtest.h>

namespace crisp::test {
namespace {

TEST(BestCells, TheirMeanKnowsPadding) {
  const torch::Tensor maps = torch::arange(10).to(torch::kFloat).view({1, 1, 2, 5});
  const torch::Tensor all = model::photo_share({}, maps);
  EXPECT_NEAR(model::mean_of_best(maps, all, 0.2).item<double>(), 8.5, 1e-6);
  EXPECT_NEAR(model::mean_of_best(maps, all, 0).item<double>(), 9, 1e-6) << "one cell at least";
  torch::Tensor photo = torch::ones({1, 1, 20, 50});
  photo.slice(3, 40).zero_();  // the last column of cells
  EXPECT_NEAR(model::mean_of_best(maps, model::photo_share(photo, maps), 0.2).item<double>(), 7.5, 1e-6);
}

}  // namespace
}  // namespace crisp::test
