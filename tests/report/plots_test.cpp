#include "crisp/report/plots.h"

#include <cmath>

#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using test::count_of;
using test::fault_in;
using test::has;

TEST(ReportPlots, BarsAreAsLongAsTheirValue) {
  EXPECT_TRUE(has(bar(25, 100).str(), "class=\"fill\" x=\"0\" y=\"0\" width=\"25\""));
  EXPECT_TRUE(has(bar(250, 100).str(), "width=\"100\"")) << "never beyond the end";
  EXPECT_TRUE(has(bar(1, 0).str(), "class=\"fill\" x=\"0\" y=\"0\" width=\"0\""));
  const std::string drawn = gauge(0.5, metric::Interval{0.25, 0.75}, 0, 1).str();
  EXPECT_TRUE(has(drawn, "class=\"range\" x=\"25\" y=\"2\" width=\"50\""));
  EXPECT_TRUE(has(drawn, "class=\"fill\" x=\"50\""));
}

TEST(ReportPlots, DifferencesAreColouredOnlyWhenClear) {
  const auto kind = [](double difference, double low, double high, bool higher_is_better) {
    const std::string svg = difference_bar(difference, metric::Interval{low, high}, 10, higher_is_better).str();
    return has(svg, "plus") ? 1 : has(svg, "minus") ? -1 : 0;
  };
  EXPECT_EQ(kind(2, 1, 3, true), 1);
  EXPECT_EQ(kind(2, 1, 3, false), -1);
  EXPECT_EQ(kind(-2, -3, -1, false), 1);
  EXPECT_EQ(kind(2, -1, 3, true), 0);
  EXPECT_TRUE(has(change_bar(-5, 10).str(), "class=\"minus\" x=\"25\" y=\"2\" width=\"25\""));
  EXPECT_TRUE(has(change_bar(10, 10).str(), "class=\"plus\" x=\"50\" y=\"2\" width=\"50\""));
}

TEST(ReportPlots, ConfusionShowsSharesOfEachRow) {
  // 3 classes; the third does not occur in the truth, and 10 pixels of the first have no class.
  const std::string svg =
      confusion_plot({{80, 10, 0, 10}, {50, 50, 0, 0}, {0, 0, 0, 0}}, {"sky", "<cat>", "dog"}).str();
  EXPECT_EQ(fault_in(svg), "");
  EXPECT_EQ(count_of(svg, "class=\"hit\""), 2u);
  EXPECT_EQ(count_of(svg, "class=\"miss\""), 3u);
  EXPECT_TRUE(has(svg, "sky: 80.00% predicted as sky (80 pixels)"));
  EXPECT_TRUE(has(svg, "sky: 10.00% predicted as no class (10 pixels)"));
  EXPECT_TRUE(has(svg, "&lt;cat&gt;: 50.00% predicted as sky"));
  EXPECT_FALSE(has(svg, "dog: "));
}

TEST(ReportPlots, ReliabilityHasAPointForEachFilledBin) {
  std::vector<metric::ReliabilityPoint> points(4);
  for (size_t i = 0; i < 4; ++i) points[i].low = 0.25 * static_cast<double>(i), points[i].high = points[i].low + 0.25;
  points[3] = {0.75, 1, 900, 0.9, 0.6};
  points[2] = {0.5, 0.75, 100, 0.6, 0.6};
  const std::string svg = reliability_plot(points).str();
  EXPECT_EQ(fault_in(svg), "");
  EXPECT_EQ(count_of(svg, "<circle"), 2u);
  EXPECT_TRUE(has(svg, "confidence 90.0%, accuracy 60.0%, 900 pixels (90.0%)"));
  EXPECT_EQ(fault_in(reliability_plot({}).str()), "");
}

TEST(ReportPlots, TicksAreRound) {
  EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(round_ticks(3, 97, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(round_ticks(5, 5, 5), (std::vector<double>{5, 6}));
  for (const double high : {1e-9, 7.3, 1e12}) {
    const std::vector<double> ticks = round_ticks(-high / 3, high, 5);
    EXPECT_GE(ticks.size(), 3u) << high;
    EXPECT_LE(ticks.size(), 9u) << high;
    EXPECT_LE(ticks.front(), -high / 3);
    EXPECT_GE(ticks.back(), high * (1 - 1e-9));
  }
}

TEST(ReportPlots, LinesLeaveOutWhatIsNoNumber) {
  const std::string svg =
      line_chart({{"loss", {{0, 1}, {1, std::nan("")}, {2, 0.5}}}, {"<miou>", {{0, 0}, {2, 1}}}}, "epoch", "value")
          .str();
  EXPECT_EQ(fault_in(svg), "");
  EXPECT_EQ(count_of(svg, "<path"), 2u);
  EXPECT_EQ(count_of(svg, " L"), 2u) << "one joint in each line";
  EXPECT_FALSE(has(svg, "nan"));
  EXPECT_TRUE(has(svg, "&lt;miou&gt;"));
  EXPECT_TRUE(has(line_chart({{"empty", {}}}, "x", "y").str(), "No values yet"));
  const std::string alone = line_chart({{"flat", {{1, 3}}}}, "x", "y").str();
  EXPECT_FALSE(has(alone, "nan"));
  EXPECT_EQ(count_of(alone, "<circle"), 1u) << "a point without a neighbour is still seen";
}

}  // namespace
}  // namespace crisp::report
