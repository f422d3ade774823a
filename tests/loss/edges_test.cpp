// Boundary bands and edge distances against scipy (tests/goldens/loss.py), and worked by hand.
#include "crisp/loss/edges.h"

#include <cstring>

#include "crisp/base/error.h"
#include "tests/support/tensors.h"

namespace crisp::test {
namespace {

using image::Mask;

Mask mask_of(const torch::Tensor& labels) {
  Mask mask(static_cast<int>(labels.size(1)), static_cast<int>(labels.size(0)));
  std::memcpy(mask.labels.data(), labels.contiguous().const_data_ptr<uint8_t>(), mask.labels.size());
  return mask;
}

Mask row(std::vector<uint8_t> values) {
  Mask mask(static_cast<int>(values.size()), 1);
  mask.labels = std::move(values);
  return mask;
}

class EdgeMaps : public testing::TestWithParam<std::string> {};

TEST_P(EdgeMaps, AreScipys) {
  const tensor::StateDict golden = read_golden("loss/edges.safetensors");
  const auto field = [&](const char* name) { return golden.at(GetParam() + "." + name); };
  const Mask labels = mask_of(field("labels"));
  EXPECT_EQ(loss::boundary_band(labels, 2).labels, mask_of(field("band2")).labels);
  EXPECT_EQ(loss::boundary_band(labels, 3).labels, mask_of(field("band3")).labels);
  const std::vector<float> distance = loss::edge_distance(labels);
  const torch::Tensor expected = field("distance").flatten();
  ASSERT_EQ(static_cast<int64_t>(distance.size()), expected.numel());
  for (size_t i = 0; i < distance.size(); ++i) {
    ASSERT_FLOAT_EQ(distance[i], expected[static_cast<int64_t>(i)].item<float>()) << "pixel " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Labels, EdgeMaps,
                         testing::Values("scene", "far", "noise", "flat", "ignored", "row", "column", "pixel"),
                         [](const auto& name) { return name.param; });

TEST(Edges, BandsByHand) {
  using Bytes = std::vector<uint8_t>;
  const Mask labels = row({0, 0, 0, 1, 1, 1, 255, 2, 2, 2});
  EXPECT_EQ(loss::boundary_band(labels).labels, (Bytes{0, 0, 1, 1, 0, 255, 255, 255, 0, 0}));
  EXPECT_EQ(loss::boundary_band(labels, 3).labels, (Bytes{0, 1, 1, 1, 255, 255, 255, 255, 255, 0}));
  const std::vector<float> distance = loss::edge_distance(labels, 4);
  EXPECT_EQ(distance, (std::vector<float>{0.5f, 0.25f, 0, 0, 0.25f, 0.5f, 0.75f, 1, 1, 1}));
}

TEST(Edges, NonsenseIsRefusedAndNothingIsFine) {
  EXPECT_THROW(loss::boundary_band(row({1}), 4), UsageError);
  EXPECT_THROW(loss::edge_distance(row({1}), 0), UsageError);
  EXPECT_TRUE(loss::boundary_band(Mask()).labels.empty());
  EXPECT_TRUE(loss::edge_distance(Mask()).empty());
}

}  // namespace
}  // namespace crisp::test
