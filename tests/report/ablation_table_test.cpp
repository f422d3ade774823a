#include "crisp/report/ablation_table.h"

#include <cmath>
#include <limits>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using test::count_of;
using test::fault_in;
using test::has;

const double kFailed = std::numeric_limits<double>::quiet_NaN();

AblationTable components() {
  AblationTable table;
  table.title = "Components | <all>";
  table.note = "VOC, 3 runs.";
  table.columns = {{"mIoU", "%", Better::kHigher, 1}, {"ECE", "%", Better::kLower, 2}, {"M", "", Better::kNeither, 1}};
  table.rows = {{"A0", "SegFormer head", {{60, 61, 62}, {5.5, 5.25, 5.75}, {3.7}}, {74.06, std::nullopt}},
                {"A1", "+ DMF, \"fused\" | <x>", {{63, kFailed, 64}, {4.125, 4.375, 4.25}, {3.8}}, {}},
                {"A2", "never run", {}, {76.5}}};
  return table;
}

TEST(ReportAblation, SummaryIsTheSampleDeviation) {
  const auto three = summarize({60, 61, 62.5});
  ASSERT_TRUE(three);
  EXPECT_EQ(three->count, 3u);
  EXPECT_NEAR(three->mean, 61.1666666667, 1e-9);
  EXPECT_NEAR(*three->deviation, 1.2583057392, 1e-9);  // numpy.std(ddof=1)
  const auto one = summarize({kFailed, 3.5, std::numeric_limits<double>::infinity()});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->count, 1u);
  EXPECT_EQ(one->mean, 3.5);
  EXPECT_FALSE(one->deviation);
  EXPECT_FALSE(summarize({kFailed}));
  EXPECT_FALSE(summarize({}));
}

TEST(ReportAblation, MarkdownHasOursThePapersAndDashes) {
  const std::vector<std::string> lines = split_lines(to_markdown(components()));
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_EQ(lines[0], "### Components \\| &lt;all>");
  EXPECT_EQ(lines[2], "VOC, 3 runs.");
  EXPECT_EQ(lines[4], "| row | | mIoU, % ↑ | ECE, % ↓ | M | runs |");
  EXPECT_EQ(lines[5], "| --- | --- | ---: | ---: | ---: | ---: |");
  EXPECT_EQ(lines[6], "| A0 | SegFormer head | 61.0 ± 1.0 | 5.50 ± 0.25 | 3.7 | 3 |");
  EXPECT_EQ(lines[7], "| *A0, paper* | *theirs* | *74.1* | | | |");
  EXPECT_EQ(lines[8], "| A1 | + DMF, \"fused\" \\| &lt;x> | **63.5 ± 0.7 (n=2)** | **4.25 ± 0.12** | 3.8 | 3 |");
  EXPECT_EQ(lines[9], "| A2 | never run | - | - | - | - |");
  EXPECT_EQ(lines[10], "| *A2, paper* | *theirs* | *76.5* | | | |");
  EXPECT_TRUE(has(lines[12], "not measured here"));
}

TEST(ReportAblation, WithoutThePaperNothingIsSaidOfIt) {
  AblationTable table = components();
  for (AblationRow& row : table.rows) row.paper.clear();
  EXPECT_FALSE(has(to_markdown(table), "paper"));
  EXPECT_FALSE(has(to_html(table), "paper's"));
}

TEST(ReportAblation, EqualFiguresAreEquallyBold) {
  AblationTable table;
  table.columns = {{"mIoU", "%", Better::kHigher, 1}, {"ms", "", Better::kLower, 0}, {"alone", "", Better::kHigher, 1}};
  table.rows = {{"a", "", {{61.04}, {12}, {1}}, {}}, {"b", "", {{61.01}, {9}}, {}}, {"c", "", {{60.9}, {15}}, {99.0}}};
  EXPECT_EQ(best_cells(table),
            (std::vector<std::vector<bool>>{{true, false, false}, {true, true, false}, {false, false, false}}))
      << "61.0 twice; the lower time; a single row is no best; the paper takes no part";
}

TEST(ReportAblation, CsvKeepsEveryDigitAndQuotes) {
  const std::vector<std::string> lines = split_lines(to_csv(components()));
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], "table,row,description,column,unit,better,runs,mean,deviation,values,paper");
  EXPECT_EQ(lines[1], "Components | <all>,A0,SegFormer head,mIoU,%,higher,3,61,1,60 61 62,74.06");
  EXPECT_EQ(lines[3], "Components | <all>,A0,SegFormer head,M,,,1,3.7,,3.7,");
  EXPECT_EQ(lines[4],
            "Components | <all>,A1,\"+ DMF, \"\"fused\"\" | <x>\",mIoU,%,higher,2,63.5,0.7071067811865476,63 64,");
  EXPECT_EQ(lines[7], "Components | <all>,A2,never run,mIoU,%,higher,0,,,,76.5");
  EXPECT_FALSE(has(to_csv(components()), "nan"));
}

TEST(ReportAblation, PageShowsRunsAndThePapersFigures) {
  AblationTable table = components();
  table.command = "crispformer ablate 'x & y'";
  table.version = "1.2.3";
  table.commit = "abcdef";
  const std::string page = to_html(table);
  EXPECT_EQ(fault_in(page), "");
  for (const char* part : {"Components | &lt;all&gt;", "VOC, 3 runs.", "&quot;fused&quot; | &lt;x&gt;", "<b>63.5</b>",
                           "<b>4.25</b>", "paper 74.1", "paper 76.5", "(n=2)", "lower is better",
                           "crispformer ablate &#39;x &amp; y&#39;", "1.2.3", "abcdef"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
  EXPECT_FALSE(has(page, "<b>61.0</b>"));
  EXPECT_EQ(count_of(page, "class=\"dot\""), 3u + 3u + 1u + 2u + 3u + 1u) << "the failed run has none";
  EXPECT_EQ(count_of(page, "(n="), 1u) << "a column measured once by its nature says nothing";
  EXPECT_TRUE(has(page, "class=\"dot\" cx=\"6.0\"")) << "60 is the least of its column";
  EXPECT_TRUE(has(page, "class=\"dot\" cx=\"94.0\"")) << "64 the most; the paper's 76.5 does not stretch the scale";
  EXPECT_TRUE(has(page, "class=\"dot\" cx=\"50.0\"")) << "62 half way";
  EXPECT_FALSE(has(page, "nan"));
  EXPECT_FALSE(has(page, "http"));
  EXPECT_FALSE(has(page, "<script"));
}

TEST(ReportAblation, HugeAndEqualValuesStayNumbers) {
  AblationTable table;
  table.columns = {{"x", "", Better::kHigher, 1}, {"y", "", Better::kHigher, 1}};
  table.rows = {{"a", "", {{1.7e308}, {-0.01}}, {}}, {"b", "", {{-1.7e308}, {-0.01}}, {}}};
  const std::string page = to_html(table);
  EXPECT_FALSE(has(page, "nan"));
  EXPECT_FALSE(has(page, "inf"));
  EXPECT_TRUE(has(page, "cx=\"50.0\"")) << "equal values stand in the middle";
  EXPECT_TRUE(has(page, "<b>0.0</b>")) << "no minus before nothing";
}

TEST(ReportAblation, ARowThatIsTooLongIsNamed) {
  AblationTable table = components();
  table.rows[1].runs.push_back({1});
  for (const auto& make : {to_markdown, to_csv, to_html}) {
    try {
      make(table);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_TRUE(has(error.what(), "row A1 has 4 columns, the table 3")) << error.what();
    }
  }
}

TEST(ReportAblation, AnEmptyTableIsStillATable) {
  const AblationTable table{.title = "nothing"};
  EXPECT_TRUE(has(to_markdown(table), "| row | | runs |"));
  EXPECT_EQ(split_lines(to_csv(table)).size(), 1u);
  EXPECT_EQ(fault_in(to_html(table)), "");
}

}  // namespace
}  // namespace crisp::report
