#include "crisp/report/pipeline_page.h"

#include <cmath>
#include <limits>

#include "crisp/base/random.h"
#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using image::Image;
using image::Mask;
using test::count_of;
using test::fault_in;
using test::has;

const ClassNames kNames = {"background", "<b>cat</b>", "dog"};

PipelineScores step(const std::string& name, const std::string& images, double miou, bool sure = false) {
  PipelineScores scores{.name = name, .images = images, .note = "", .metrics = {}};
  metric::Metrics& metrics = scores.metrics;
  metrics.images = 1234;
  metrics.miou = miou;
  metrics.boundary_f1 = miou / 2;
  metrics.ci95["miou"] = {miou - 1.25, miou + 2.5};
  for (int label = 0; label < 3; ++label) {
    metrics.per_class.push_back({.label = label, .iou = miou + 10 * label, .pixels = 9});
  }
  if (sure) {
    metrics.ece = 4.321;
    metrics.reliability = {{0, 0.5, 0, {}, {}}, {0.5, 1, 900, 0.9, 0.6}};
  }
  return scores;
}

PipelinePage full_page() {
  PipelinePage page;
  page.title = "shapes & <tags>";
  page.lead = "What was learned.";
  page.facts = {{"photos", "24 <of> 30"}};
  page.predict_command = "crispformer predict --model 'a & b.safetensors' photo.jpg";
  page.outputs = {{"model", "out/a & b.safetensors"}};
  page.scores = {step("raw <CAM>", "train", 40), step("relabelled", "train", 61.25), step("raw <CAM>", "val", 38),
                 step("student", "val", 57.34, true)};
  page.notes = {"masks were <looked> at"};
  page.classes = kNames;
  const Image photo(8, 6);
  page.path = {{.name = "one <photo>",
                .tags = {"dog"},
                .note = "",
                .pictures = {sheet_photo("photo", photo), sheet_labels("seed", photo, Mask(8, 6, 2))}}};
  page.scale_weights = {{.name = "one", .tags = {}, .note = "", .pictures = {sheet_levels("1/4", Mask(4, 3, 9))}}};
  page.curves = {{"Losses <all>", "step", "loss", {{"<total>", {{0, 2}, {1, 1}}}}},
                 {"Nothing finite", "step", "loss", {{"nan", {{0, std::nan("")}}}}}};
  page.times = {{"seeds <a>", 30.2, true}, {"train", 75, false}, {"report", 0.83, false}};
  page.config = "[train]\nname = \"</pre><script>\"\n";
  page.command = "crispformer run --data 'x & y'";
  page.version = "1.2.3";
  page.commit = "abcdef";
  return page;
}

TEST(ReportPipelinePage, HasEveryPartAndEscapesWhatItIsGiven) {
  const std::string page = pipeline_page(full_page());
  EXPECT_EQ(fault_in(page), "");
  for (const char* part : {"shapes &amp; &lt;tags&gt;",
                           "What was learned.",
                           "24 &lt;of&gt; 30",
                           "Use it",
                           "crispformer predict --model &#39;a &amp; b.safetensors&#39; photo.jpg",
                           "out/a &amp; b.safetensors",
                           "From step to step",
                           "raw &lt;CAM&gt;",
                           "masks were &lt;looked&gt; at",
                           "From tags to masks",
                           "one &lt;photo&gt;",
                           "As it learned",
                           "Losses &lt;all&gt;",
                           "&lt;total&gt;",
                           "Which scale speaks where",
                           "1/4",
                           "Can its confidence be trusted?",
                           "Class by class",
                           "&lt;b&gt;cat&lt;/b&gt;",
                           "Time",
                           "seeds &lt;a&gt;",
                           "&lt;/pre&gt;&lt;script&gt;",
                           "crispformer run --data &#39;x &amp; y&#39;",
                           "1.2.3",
                           "abcdef"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
  EXPECT_FALSE(has(page, "http")) << "nothing from elsewhere";
  EXPECT_FALSE(has(page, "<script"));
  EXPECT_FALSE(has(page, "Nothing finite")) << "a chart without a point";
  EXPECT_FALSE(has(page, "nan"));
}

TEST(ReportPipelinePage, SectionsFollowTheReadersOrder) {
  const std::string page = pipeline_page(full_page());
  size_t last = 0;
  for (const char* heading :
       {"<h1>", "Use it", "From step to step", "How to read this", "From tags to masks", "As it learned",
        "Which scale speaks where", "Can its confidence", "Class by class", "<h2>Time", "How this was made"}) {
    const size_t place = page.find(heading);
    ASSERT_NE(place, std::string::npos) << heading;
    EXPECT_GT(place, last) << heading;
    last = place;
  }
}

TEST(ReportPipelinePage, WithoutMasksThereIsNothingAboutThem) {
  PipelinePage contents = full_page();
  contents.scores.clear();
  contents.notes.clear();
  const std::string page = pipeline_page(contents);
  EXPECT_EQ(fault_in(page), "");
  for (const char* part : {"IoU", "From step to step", "How to read this", "confidence be trusted", "Class by class"}) {
    EXPECT_FALSE(has(page, part)) << part;
  }
  for (const char* part : {"Use it", "From tags to masks", "As it learned", "<h2>Time", "Every option, as TOML"}) {
    EXPECT_TRUE(has(page, part)) << part;
  }
}

TEST(ReportPipelinePage, AnEmptyRunIsATitle) {
  const std::string page = pipeline_page({.title = "empty"});
  EXPECT_EQ(fault_in(page), "");
  EXPECT_TRUE(has(page, "<h1>empty</h1>"));
  EXPECT_EQ(count_of(page, "<section"), 0u);
  EXPECT_EQ(count_of(page, "<div class=\"card"), 0u);
}

TEST(ReportPipelineScores, ResultIsTheLastAndComparedOnItsOwnImages) {
  const std::vector<PipelineScores> steps = full_page().scores;
  EXPECT_EQ(result_of(steps), &steps[3]);
  EXPECT_EQ(start_of(steps), &steps[2]) << "38 on val, not 40 on train";
  const std::string number = result_number(steps).str();
  EXPECT_TRUE(has(number, "57.3"));
  EXPECT_TRUE(has(number, "56.1 – 59.8"));
  EXPECT_TRUE(has(number, "gain up\">+19.3"));
  EXPECT_TRUE(has(number, "student, val (1,234 images)"));
  EXPECT_EQ(start_of({steps[0], steps[3]}), nullptr) << "other images";
  EXPECT_FALSE(has(result_number({steps[0], steps[3]}).str(), "gain"));
  EXPECT_TRUE(result_number({}).empty());
}

TEST(ReportPipelineScores, ClimbHasABarAStepAndTheGainOverTheFirst) {
  const std::string drawn = climb(full_page().scores).str();
  EXPECT_EQ(fault_in(drawn), "");
  EXPECT_EQ(count_of(drawn, "class=\"climb\""), 2u);
  EXPECT_EQ(count_of(drawn, "class=\"fill\""), 4u);
  EXPECT_TRUE(has(drawn, "class=\"fill\" x=\"0\" y=\"0\" width=\"61.25\""));
  EXPECT_TRUE(has(drawn, "gain up\">+21.2")) << "61.25 - 40";
  EXPECT_TRUE(has(drawn, "gain up\">+19.3")) << "57.34 - 38";
  const std::string worse = climb({step("a", "x", 50), step("b", "x", 45), step("c", "x", 50.01)}).str();
  EXPECT_TRUE(has(worse, "gain down\">-5.0")) << "a loss is shown as one";
  EXPECT_TRUE(has(worse, "gain\">±0.0"));
  EXPECT_TRUE(climb({{.name = "unscored", .images = "x", .note = "", .metrics = {}}}).empty());
}

TEST(ReportPipelineScores, TableHasTheNumbersThatAreThere) {
  const std::string table = scores_table(full_page().scores).str();
  EXPECT_EQ(fault_in(table), "");
  for (const char* part : {"Mean IoU, %", "Boundary F1, %", "Calibration error, %", ">4.3<", "28.7", "60.0 – 63.8"}) {
    EXPECT_TRUE(has(table, part)) << part;
  }
  EXPECT_FALSE(has(table, "Mean Dice")) << "nobody measured it";
  EXPECT_EQ(count_of(table, ">-<"), 3u) << "calibration of seeds and labels";
  EXPECT_EQ(count_of(table, "class=\"group\""), 2u);
}

TEST(ReportPipelineScores, ClassesAreSortedAndComparedWithTheStart) {
  const std::string table = class_gains(full_page().scores, kNames).str();
  EXPECT_EQ(fault_in(table), "");
  EXPECT_LT(table.find("dog"), table.find("&lt;b&gt;cat"));
  EXPECT_TRUE(has(table, "77.3")) << "dog now";
  EXPECT_TRUE(has(table, "58.0")) << "dog before";
  EXPECT_EQ(count_of(table, "+19.3"), 3u);
  EXPECT_FALSE(has(class_gains({step("student", "val", 50)}, kNames).str(), "gain"));
  EXPECT_EQ(count_of(class_gains({step("student", "val", 50)}, {"background"}).str(), "class=\"swatch\""), 1u)
      << "classes without a name are left out";
}

TEST(ReportPipelinePage, LongCurvesBecomeMeans) {
  Series line{.name = "loss", .points = {}};
  for (int i = 0; i < 1000; ++i) line.points.emplace_back(i, i % 2);
  line.points.emplace_back(1000, std::numeric_limits<double>::infinity());
  const Series thin = thinned(line, 100);
  ASSERT_EQ(thin.points.size(), 100u);
  EXPECT_NEAR(thin.points[0].first, 4.5, 1e-9);
  EXPECT_NEAR(thin.points[99].first, 994.5, 1e-9);
  for (const auto& point : thin.points) EXPECT_NEAR(point.second, 0.5, 1e-9);
  const Series same = thinned({.name = "few", .points = {{1, 2}, {3, 4}}}, 100);
  EXPECT_EQ(same.points, (std::vector<std::pair<double, double>>{{1, 2}, {3, 4}}));
  EXPECT_TRUE(thinned({}, 0).points.empty());
}

TEST(ReportPipelinePage, TimesAreReadableAndReusedOnesNotSummed) {
  const std::string page = pipeline_page(full_page());
  EXPECT_TRUE(has(page, "1 min 16 s in all. 1 of 3 stages"));
  EXPECT_TRUE(has(page, "30 s"));
  EXPECT_EQ(count_of(page, "kept from before"), 1u);
  EXPECT_EQ(duration_text(0.83), "0.8 s");
  EXPECT_EQ(duration_text(9.96), "10 s");
  EXPECT_EQ(duration_text(59.6), "1 min 00 s");
  EXPECT_EQ(duration_text(75), "1 min 15 s");
  EXPECT_EQ(duration_text(7384), "2 h 03 min");
  EXPECT_EQ(duration_text(7199), "2 h 00 min");
  EXPECT_EQ(duration_text(std::nan("")), "-");
  PipelinePage broken{.title = "t"};
  broken.times = {{"a", std::nan(""), false}, {"b", -1, false}};
  EXPECT_EQ(fault_in(pipeline_page(broken)), "");
  EXPECT_FALSE(has(pipeline_page(broken), "nan"));
}

TEST(ReportPipelinePage, EightRowsOfEightStayBelowSixMegabytes) {
  // Noise of this strength takes 24 KB a thumbnail, more than 19 of 20 VOC photos.
  PipelinePage page = full_page();
  Rng rng(7);
  Image photo(500, 375);
  Mask map(500, 375);
  for (uint8_t& value : photo.rgb) value = static_cast<uint8_t>(38 + rng.below(180));
  for (uint8_t& value : map.labels) value = static_cast<uint8_t>(rng.below(3));
  SheetRow row{.name = "photo", .tags = {}, .note = "", .pictures = {}};
  for (const char* caption : {"photo", "seed", "relabelled", "student", "truth"}) {
    row.pictures.push_back(sheet_labels(caption, photo, map));
  }
  row.pictures.push_back(sheet_activation("CAM", photo, map));
  row.pictures.push_back(sheet_levels("uncertainty", map));
  row.pictures.push_back(sheet_levels("boundary", map));
  page.path.assign(8, row);
  SheetRow scales{.name = "photo", .tags = {}, .note = "", .pictures = {}};
  for (const char* caption : {"1/4", "1/8", "1/16", "1/32"}) scales.pictures.push_back(sheet_levels(caption, map));
  page.scale_weights.assign(8, scales);
  Series noise{.name = "total", .points = {}};
  for (int i = 0; i < 100'000; ++i) noise.points.emplace_back(i, rng.below(1000));
  page.curves = {{"Loss", "step", "loss", std::vector<Series>(6, noise)}};
  const size_t size = pipeline_page(page).size();
  EXPECT_LT(size, 6'000'000u);
  EXPECT_GT(size, 1'000'000u) << "the photos are in it";
}

}  // namespace
}  // namespace crisp::report
