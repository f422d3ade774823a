// The teacher's labels: views by hand, tags, reports by hand, folders that were half made.
#include "crisp/train/relabel.h"

#include "crisp/image/decode.h"
#include "tests/train/student_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

// -sum p log p over log K, from probabilities.
torch::Tensor entropy(const torch::Tensor& p) {
  return -(p * p.clamp_min(1e-12).log()).sum(1) / std::log(static_cast<double>(p.size(1)));
}

// One image's map between its 1st and 99th percentile, value by value.
torch::Tensor normalised(const torch::Tensor& map) {
  const torch::Tensor sorted = std::get<0>(map.flatten().sort());
  const auto at = [&](double share) {
    return sorted[static_cast<int64_t>(share * static_cast<double>(sorted.numel() - 1))].item<double>();
  };
  const double low = at(0.01), high = at(0.99);
  if (high - low <= 1e-6) return torch::zeros_like(map);
  return ((map - low) / (high - low)).clamp(0, 1);
}

struct Expected {
  torch::Tensor mean, aleatoric, total_entropy, mutual;  // [N, K, h, w], the others [N, h, w]
};

// The encoder once, the decoder with its dropout `passes` times; everything kept and averaged at the end.
Expected by_hand(model::Segmenter& teacher, const torch::Tensor& images, int64_t passes) {
  const model::Features features = teacher->encoder->forward(images);
  std::vector<torch::Tensor> p, variance, entropies;
  for (int64_t i = 0; i < passes; ++i) {
    const model::Prediction said = teacher->head->forward(features, {.sample_dropout = passes > 1});
    p.push_back(torch::softmax(said.refined, 1));
    entropies.push_back(entropy(p.back()));
    if (said.variance.defined()) variance.push_back(said.variance.mean(1));
  }
  Expected e;
  e.mean = torch::stack(p).mean(0);
  if (!variance.empty()) e.aleatoric = torch::stack(variance).mean(0);
  e.total_entropy = entropy(e.mean);
  e.mutual = e.total_entropy - torch::stack(entropies).mean(0);
  return e;
}

TEST(TeacherViews, AgreeWithAHandComputation) {
  const torch::NoGradGuard no_grad;
  for (const int64_t passes : {int64_t{1}, int64_t{5}}) {
    model::Segmenter teacher = drawn(small_student("A6", "U4", 4, 0.3));
    teacher->eval();
    const torch::Tensor images = torch::randn({2, 3, 48, 64});
    torch::manual_seed(9);
    const Expected e = by_hand(teacher, images, passes);
    EXPECT_GE(e.mutual.min().item<double>(), -1e-6) << "the mean is never surer than its parts";
    if (passes == 1) {
      EXPECT_LT(e.mutual.abs().max().item<double>(), 1e-6);
    } else {
      EXPECT_GT(e.mutual.max().item<double>(), 1e-3) << "dropout must show";
    }
    struct Case {
      train::TeacherSources sources;
      std::vector<torch::Tensor> maps;
    };
    const std::vector<Case> cases = {{{true, true, true}, {e.aleatoric, e.total_entropy, e.mutual}},
                                     {{true, true, false}, {e.aleatoric, e.total_entropy}},
                                     {{true, false, false}, {e.aleatoric}},
                                     {{false, true, false}, {e.total_entropy}},
                                     {{false, false, false}, {1 - e.mean.amax(1)}}};
    for (size_t k = 0; k < cases.size(); ++k) {
      torch::manual_seed(9);
      const std::vector<train::TeacherView> views =
          train::teacher_views(*teacher, {images, {}}, passes, cases[k].sources);
      ASSERT_EQ(views.size(), 2u);
      for (int64_t i = 0; i < 2; ++i) {
        const train::TeacherView& view = views[static_cast<size_t>(i)];
        EXPECT_LT((view.probabilities - e.mean[i]).abs().max().item<double>(), 1e-5);
        torch::Tensor u = torch::zeros({12, 16});
        for (const torch::Tensor& map : cases[k].maps) u += normalised(map[i]);
        u /= static_cast<double>(cases[k].maps.size());
        ASSERT_EQ(view.uncertainty.sizes(), u.sizes());
        EXPECT_LT((view.uncertainty - u).abs().max().item<double>(), 2e-3) << "case " << k << " passes " << passes;
        EXPECT_GE(view.uncertainty.min().item<double>(), 0);
        EXPECT_LE(view.uncertainty.max().item<double>(), 1);
      }
    }
  }
}

TEST(TeacherViews, WithoutAVarianceHeadTheOtherSourcesCount) {
  const torch::NoGradGuard no_grad;
  model::Segmenter teacher = drawn(small_student("A6", "U1", 4));
  teacher->eval();
  const torch::Tensor images = torch::randn({1, 3, 32, 32});
  const auto view = [&](bool aleatoric) {
    return train::teacher_views(*teacher, {images, {}}, 1, {aleatoric, true, false})[0].uncertainty;
  };
  EXPECT_TRUE(torch::equal(view(true), view(false)));
}

TEST(TeacherViews, APhotoSmallerThanTheEncoderTakesIsCutBack) {
  const torch::NoGradGuard no_grad;
  model::Segmenter teacher = drawn(small_student());
  teacher->eval();
  const auto views = train::teacher_views(*teacher, {torch::randn({1, 3, 9, 21}), {}}, 2, {});
  EXPECT_EQ(views[0].probabilities.sizes(), (std::vector<int64_t>{3, 3, 6}));
  EXPECT_EQ(views[0].uncertainty.sizes(), (std::vector<int64_t>{3, 6}));
}

TEST(TeacherViews, ScalesAndFlipsAreAveraged) {
  const torch::NoGradGuard no_grad;
  model::Segmenter teacher = drawn(small_student());
  teacher->eval();
  const torch::Tensor images = torch::randn({2, 3, 40, 56});
  // By hand, from the network's plain answers.
  torch::Tensor expected = torch::zeros({2, 3, 20, 28});
  for (const double scale : {1.0, 2.0}) {
    const torch::Tensor scaled =
        scale == 1 ? images : torch::_upsample_bilinear2d_aa(images, {80, 112}, /*align_corners=*/false);
    for (const bool mirrored : {false, true}) {
      torch::Tensor p = torch::softmax(teacher->forward(mirrored ? scaled.flip(3) : scaled, {}).refined, 1);
      if (mirrored) p = p.flip(3);
      expected += torch::upsample_bilinear2d(p, {20, 28}, /*align_corners=*/false) / 4;
    }
  }
  const auto views = train::teacher_views(*teacher, {images, {}}, 1, {}, {1, 2}, true);
  ASSERT_EQ(views.size(), 2u);
  for (int64_t i = 0; i < 2; ++i) {
    ASSERT_EQ(views[static_cast<size_t>(i)].probabilities.sizes(), expected[i].sizes());
    EXPECT_LT((views[static_cast<size_t>(i)].probabilities - expected[i]).abs().max().item<double>(), 1e-5);
    EXPECT_EQ(views[static_cast<size_t>(i)].uncertainty.sizes(), (std::vector<int64_t>{20, 28}));
  }
  const auto smaller = train::teacher_views(*teacher, {images, {}}, 8, {}, {0.5, 1}, true);  // with dropout, two each
  EXPECT_EQ(smaller[0].probabilities.sizes(), (std::vector<int64_t>{3, 10, 14}));
  EXPECT_NEAR(smaller[0].probabilities.sum(0).mean().item<double>(), 1, 1e-5);
}

TEST(LabelFrom, OnlyTagsAndBackgroundAreAllowed) {
  train::TeacherView view;
  view.probabilities = torch::zeros({4, 2, 2});
  view.probabilities[3].fill_(0.6f);   // the likeliest everywhere
  view.probabilities[2].fill_(0.25f);  // the next but in one corner
  view.probabilities[0].fill_(0.1f);
  view.probabilities[2][1][1] = 0;
  view.uncertainty = torch::tensor({{0.0f, 0.5f}, {1.0f, 0.2f}});
  EXPECT_EQ(train::label_from(view, {0, 1, 3}, 2, 2).labels.labels, (std::vector<uint8_t>{3, 3, 3, 3}));
  EXPECT_EQ(train::label_from(view, {0, 1, 2}, 2, 2).labels.labels, (std::vector<uint8_t>{2, 2, 2, 0}));
  EXPECT_EQ(train::label_from(view, {0}, 2, 2).labels.labels, (std::vector<uint8_t>{0, 0, 0, 0}));
  const data::Seed seed = train::label_from(view, {0, 3}, 2, 2);
  EXPECT_EQ(seed.uncertainty.labels, (std::vector<uint8_t>{0, 128, 255, 51}));
  const data::Seed large = train::label_from(view, {0, 2}, 7, 5);
  EXPECT_EQ(large.labels.width, 7);
  EXPECT_EQ(large.labels.height, 5);
  EXPECT_EQ(large.uncertainty.labels.size(), 35u);
  EXPECT_EQ(large.labels.labels.front(), 2);
  EXPECT_EQ(large.labels.labels.back(), 0);
}

// A teacher that covers too much: its map of class 1 goes two pixels beyond the bright half of the photo.
TEST(LabelFrom, RefinementBringsEdgesToThePhotos) {
  image::Image photo(32, 32);
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 32 * 3; ++x) photo.row(y)[x] = x < 16 * 3 ? 230 : 20;
  }
  train::TeacherView view;
  view.probabilities = torch::full({2, 32, 32}, 0.2f);
  view.probabilities[1].narrow(1, 0, 18).fill_(0.8f);
  view.probabilities[0] = 1 - view.probabilities[1];
  view.uncertainty = torch::full({32, 32}, 0.4f);
  const auto columns = [](const data::Seed& seed) {
    return std::count(seed.labels.labels.begin() + 16 * 32, seed.labels.labels.begin() + 17 * 32, 1);
  };
  EXPECT_EQ(columns(train::label_from(view, {0, 1}, 32, 32)), 18);
  for (const seed::Refinement step : {seed::Refinement::kCrf, seed::Refinement::kPar}) {
    train::RelabelOptions options;
    options.refine.chain = {step};
    const data::Seed made = train::refined_label_from(view, {0, 1}, photo, nullptr, options);
    EXPECT_EQ(columns(made), 16);
    EXPECT_EQ(made.uncertainty.labels[0], 102) << "the teacher's, 0.4 of 255";
  }
}

// P q^trust by hand: the teacher says 0.61 for class 1; labels so far say background, with a margin of 1 - u.
TEST(RelabelLabel, LabelsSoFarWeighAsMuchAsTheyAreTrusted) {
  train::TeacherView view;
  view.probabilities = torch::full({2, 8, 8}, 0.39f);
  view.probabilities[1].fill_(0.61f);
  view.uncertainty = torch::zeros({8, 8});
  data::Seed so_far{image::Mask(32, 32), image::Mask(32, 32)};
  for (size_t i = 0; i < 32 * 32; ++i) so_far.uncertainty.labels[i] = static_cast<uint8_t>(i / 4);  // 0 .. 255
  for (size_t i = 1020; i < 1024; ++i) so_far.labels.labels[i] = 255;
  for (const double trust : {0.0, 0.5, 1.0}) {
    train::RelabelOptions options;
    options.trust = trust;
    const data::Seed made = train::refined_label_from(view, {0, 1}, image::Image(32, 32), &so_far, options);
    for (size_t i = 0; i < 1024; ++i) {
      const double margin = 1 - static_cast<double>(i / 4) / 255, q = std::min(0.95, (1 + margin) / 2);
      const bool background = so_far.labels.labels[i] == 0 && 0.39 * std::pow(q, trust) > 0.61 * std::pow(1 - q, trust);
      ASSERT_EQ(made.labels.labels[i], background ? 0 : 1) << "pixel " << i << ", trust " << trust;
    }
  }
}

class Relabel : public testing::Test {
 protected:
  Relabel() : scenes_(6), before_(scenes_.seeds()) {
    options_.passes = 2;
    options_.sources = {};
    options_.all = true;
  }

  train::RelabelReport run(const Path& out, const std::vector<data::Sample>& samples, int64_t batch = 2,
                           const data::Dataset* truth = nullptr, double dropout = 0.2) {
    const data::SeedFacts facts{.made_by = "teacher at step 1",
                                .data = before_.facts().data,
                                .split = before_.facts().split,
                                .classes = before_.facts().classes};
    return train::relabel(drawn(small_student("A6", "U4", 3, dropout)), samples, facts, &before_, truth, options_,
                          torch::kCPU, torch::kFloat, 2, batch, 5, out);
  }
  Path at(const std::string& name) const { return scenes_.folder.path() / name; }

  Scenes scenes_;
  data::SeedFolder before_;
  train::RelabelOptions options_;
};

TEST_F(Relabel, TheFolderIsASeedFolderAndTheReportIsRight) {
  const train::RelabelReport report = run(at("out"), scenes_.samples, 2, &scenes_.dataset);
  const data::SeedFolder made(at("out"));  // complete, or this throws
  EXPECT_EQ(made.facts().made_by, "teacher at step 1");
  EXPECT_EQ(made.facts().classes, before_.facts().classes);
  EXPECT_EQ(made.facts().images, 6);
  EXPECT_EQ(report.images, 6);
  int64_t same = 0, known = 0, found = 0;
  std::vector<int64_t> both(3), either(3), truths(3);
  for (const data::Sample& sample : scenes_.samples) {
    const data::Seed seed = made.read(sample.id);
    const data::Seed old = before_.read(sample.id);
    const image::Mask truth = image::read_mask(*sample.mask);
    bool tag = false;
    for (size_t i = 0; i < seed.labels.labels.size(); ++i) {
      const uint8_t label = seed.labels.labels[i], t = truth.labels[i];
      ASSERT_TRUE(label == 0 || label == sample.tags[0]) << "only its own tag";
      tag = tag || label == sample.tags[0];
      if (old.labels.labels[i] != 255) {
        ++known;
        same += old.labels.labels[i] == label;
      }
      ++truths[t];
      ++either[t];
      if (label == t) {
        ++both[t];
      } else {
        ++either[label];
      }
    }
    found += tag;
  }
  EXPECT_EQ(known, 6 * 64 * 60) << "four columns are ignored";
  EXPECT_DOUBLE_EQ(report.agreement, static_cast<double>(same) / static_cast<double>(known));
  EXPECT_DOUBLE_EQ(report.found, static_cast<double>(found) / 6);
  double miou = 0;
  for (size_t k = 0; k < 3; ++k) miou += 100.0 / 3 * static_cast<double>(both[k]) / static_cast<double>(either[k]);
  EXPECT_NEAR(report.miou, miou, 1e-9);
  EXPECT_EQ(run(at("blind"), scenes_.samples).miou, -1) << "without masks there is nothing to say";
}

TEST_F(Relabel, WhatAStoppedRunLeftIsMadeAgain) {
  run(at("whole"), scenes_.samples);
  {
    data::SeedWriter half(at("out"), {.made_by = "teacher at step 1",
                                      .data = before_.facts().data,
                                      .classes = before_.facts().classes,
                                      .options = R"({"relabelled": true})"});
    for (const data::Sample& sample : scenes_.samples) {  // all there, but nobody said that it is complete
      half.write(sample.id, {image::Mask(64, 64, 1), image::Mask(64, 64)});
    }
  }
  const train::RelabelReport report = run(at("out"), scenes_.samples);
  for (const data::Sample& sample : scenes_.samples) {
    for (const char* map : {"labels", "uncertainty"}) {
      EXPECT_EQ(read_text(at("out") / map / (sample.id + ".png")), read_text(at("whole") / map / (sample.id + ".png")));
    }
  }
  const std::string finished = read_text(at("out") / "labels/p0.png");
  const train::RelabelReport again = run(at("out"), scenes_.samples);
  EXPECT_EQ(read_text(at("out") / "labels/p0.png"), finished);
  EXPECT_EQ(again.agreement, report.agreement);
  EXPECT_EQ(again.found, report.found);
}

// Without `all` a photo is relabelled as a whole or not at all.
TEST_F(Relabel, APhotoWhoseTagIsMissedKeepsItsLabels) {
  for (data::Sample& sample : scenes_.samples) sample.tags = {1, 2};  // an unlearned teacher misses one here and there
  run(at("all"), scenes_.samples);
  options_.all = false;
  const train::RelabelReport report = run(at("complete"), scenes_.samples);
  const data::SeedFolder all(at("all")), complete(at("complete"));
  int64_t kept = 0, found = 0;
  for (const data::Sample& sample : scenes_.samples) {
    const std::vector<uint8_t> said = all.read(sample.id).labels.labels;
    const bool one = std::count(said.begin(), said.end(), 1) > 0, two = std::count(said.begin(), said.end(), 2) > 0;
    found += one + two;
    kept += !(one && two);
    EXPECT_EQ(complete.read(sample.id).labels.labels, one && two ? said : before_.read(sample.id).labels.labels);
  }
  EXPECT_GT(kept, 0) << "nothing was missed: the test shows nothing";
  EXPECT_DOUBLE_EQ(report.found, static_cast<double>(found) / 12) << "what the teacher found, not what was kept";
}

TEST_F(Relabel, PhotosOfOneSizeGoTogetherAndOthersApart) {
  Scenes wide(3, 96, 64);
  std::vector<data::Sample> mixed = scenes_.samples;
  for (data::Sample& sample : wide.samples) {  // other sizes in between, under other names
    const Path label = scenes_.seeds() / "labels" / ("w" + sample.id + ".png");
    fs::copy_file(wide.seeds() / "labels" / (sample.id + ".png"), label);
    sample.id = "w" + sample.id;
    mixed.insert(mixed.begin() + static_cast<ptrdiff_t>(mixed.size() / 2), sample);
  }
  run(at("one"), mixed, 1, nullptr, 0);
  run(at("four"), mixed, 4, nullptr, 0);
  int64_t different = 0;
  for (const data::Sample& sample : mixed) {
    const data::Seed a = data::SeedFolder(at("one")).read(sample.id), b = data::SeedFolder(at("four")).read(sample.id);
    ASSERT_EQ(a.labels.width, sample.id[0] == 'w' ? 96 : 64);
    for (size_t i = 0; i < a.labels.labels.size(); ++i) different += a.labels.labels[i] != b.labels.labels[i];
  }
  EXPECT_LE(different, 9 * 64 * 64 / 1000) << "but for rounding the group makes no difference";
}

TEST_F(Relabel, WhatCannotBeReadIsLeftOutAndComparedWithNothing) {
  write_atomic(scenes_.samples[1].image, "no photo");
  image::write_mask_png(scenes_.seeds() / "labels/p2.png", image::Mask(20, 10));  // would be read past its end
  fs::remove(scenes_.seeds() / "uncertainty/p2.png");
  write_atomic(*scenes_.samples[3].mask, "no mask");
  testing::internal::CaptureStderr();
  const train::RelabelReport report = run(at("out"), scenes_.samples, 2, &scenes_.dataset);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.images, 5);
  const data::SeedFolder made(at("out"));
  EXPECT_FALSE(made.has("p1"));
  EXPECT_EQ(made.facts().skipped.count("p1"), 1u);
  EXPECT_EQ(made.read("p2").labels.width, 64) << "the photo's size";
  EXPECT_TRUE(contains(said, "p2: its labels so far are 20x10, the photo is 64x64")) << said;
  EXPECT_TRUE(contains(said, "p3_mask.png")) << said;
  EXPECT_GE(report.miou, 0);
}

}  // namespace
}  // namespace crisp::test
