// What each row of the tables switches on, and the schedules.
#include "crisp/train/student.h"

#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "tests/support/support.h"

namespace crisp::test {
namespace {

TEST(StudentRow, EveryComponentRow) {
  struct Row {
    const char* name;
    bool crispformer, variance, weighting, refine, boundary, modulation, relabel;
  };
  const Row rows[] = {
      {"A0", false, false, false, false, false, false, false}, {"A1", true, false, false, false, false, false, false},
      {"A2", true, true, true, false, false, false, false},    {"A3", true, true, true, true, false, false, false},
      {"A4", true, true, true, true, true, false, false},      {"A5", true, true, true, true, true, true, false},
      {"A6", true, true, true, true, true, true, true}};
  for (const Row& row : rows) {
    const train::StudentConfig config = train::student_row(row.name, "U4", 24, 7);
    EXPECT_EQ(config.head.kind == model::HeadKind::kCrispformer, row.crispformer) << row.name;
    EXPECT_EQ(config.head.width, 24) << "every row has the same width";
    EXPECT_EQ(config.head.classes, 7);
    EXPECT_EQ(config.head.variance, row.variance) << row.name;
    EXPECT_EQ(config.loss.weighting, row.weighting) << row.name;
    EXPECT_EQ(config.head.refine, row.refine) << row.name;
    EXPECT_EQ(config.head.boundary, row.boundary) << row.name;
    EXPECT_EQ(config.head.modulation == model::Modulation::kPerScale, row.modulation) << row.name;
    EXPECT_EQ(config.head.modulation == model::Modulation::kOff, !row.modulation) << row.name;
    EXPECT_EQ(config.relabel, row.relabel) << row.name;
  }
}

TEST(StudentRow, EveryUncertaintyRow) {
  struct Row {
    const char* name;
    bool aleatoric, entropy, epistemic;
    model::UncertaintyInput input;
  };
  const Row rows[] = {{"U0", false, false, false, model::UncertaintyInput::kNone},
                      {"U1", false, true, false, model::UncertaintyInput::kEntropy},
                      {"U2", true, false, false, model::UncertaintyInput::kVariance},
                      {"U3", true, true, false, model::UncertaintyInput::kVariance},
                      {"U4", true, true, true, model::UncertaintyInput::kVariance}};
  for (const Row& row : rows) {
    const train::StudentConfig config = train::student_row("A6", row.name, 8, 3);
    EXPECT_TRUE(config.relabel) << "all U rows relabel";
    EXPECT_EQ(config.head.variance, row.aleatoric) << row.name;
    EXPECT_TRUE(config.head.refine && config.head.boundary) << row.name;
    EXPECT_EQ(config.head.modulation, model::Modulation::kPerScale) << row.name;
    EXPECT_EQ(config.head.uncertainty, row.input) << row.name;
    EXPECT_EQ(config.loss.weighting, row.aleatoric || row.entropy) << row.name;
    EXPECT_EQ(config.loss.weight.aleatoric, row.aleatoric) << row.name;
    EXPECT_EQ(config.loss.weight.entropy, row.entropy) << row.name;
    EXPECT_EQ(config.sources.aleatoric, row.aleatoric) << row.name;
    EXPECT_EQ(config.sources.entropy, row.entropy) << row.name;
    EXPECT_EQ(config.sources.epistemic, row.epistemic) << row.name;
  }
}

TEST(StudentRow, UnknownRowsAreNamed) {
  for (const char* row : {"A7", "a6", "", "A", "A66", "B1"}) {
    EXPECT_TRUE(contains(error_of([&] { train::student_row(row, "U4", 8, 3); }), "it is one of A0")) << row;
  }
  for (const char* row : {"U5", "u0", "", "U", "U44"}) {
    EXPECT_TRUE(contains(error_of([&] { train::student_row("A6", row, 8, 3); }), "it is one of U0")) << row;
  }
}

TEST(DropShare, OfSeedsFallsOverTheFirstQuarter) {
  const train::Phases phases;
  EXPECT_DOUBLE_EQ(train::drop_share(phases, 0), 0.30);
  EXPECT_DOUBLE_EQ(train::drop_share(phases, 0.125), 0.225);
  EXPECT_DOUBLE_EQ(train::drop_share(phases, 0.2), 0.18);
  EXPECT_DOUBLE_EQ(train::drop_share(phases, 0.25), 0.15);
  EXPECT_DOUBLE_EQ(train::drop_share(phases, 1), 0.15);
  EXPECT_DOUBLE_EQ(train::drop_share(train::Phases{.drop_until = 0}, 0), 0.15) << "at once";
}

TEST(DropShare, OfRelabelledOnesFallsToTheEnd) {
  const train::RelabelOptions options;  // kept: 70% at a quarter, 85% at the end
  EXPECT_NEAR(train::drop_share(options, 0), 0.30, 1e-12) << "before the first round as at it";
  EXPECT_NEAR(train::drop_share(options, 0.25), 0.30, 1e-12);
  EXPECT_NEAR(train::drop_share(options, 0.625), 0.225, 1e-12);
  EXPECT_NEAR(train::drop_share(options, 1), 0.15, 1e-12);
  EXPECT_NEAR(train::drop_share(train::RelabelOptions{.from = 1}, 1), 0.15, 1e-12) << "no division by nothing";
}

TEST(StudentOptions, WhatMakesNoSenseIsNamedByItsOption) {
  const auto phases = [](void (*change)(train::Phases&)) {
    train::Phases p;
    change(p);
    return error_of([&] { train::check(p); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(phases([](auto&) {}), "no error");
  EXPECT_TRUE(contains(phases([](auto& p) { p.refiner_attached = -0.1; }), "--refiner-attached -0.1"));
  EXPECT_TRUE(contains(phases([](auto& p) { p.weighting = 1.5; }), "--weighting-from 1.5"));
  EXPECT_TRUE(contains(phases([](auto& p) { p.modulation = 2; }), "--modulation-from 2"));
  EXPECT_TRUE(contains(phases([](auto& p) { p.drop_first = 30; }), "--drop-first 30"));
  EXPECT_TRUE(contains(phases([](auto& p) { p.drop_last = -1; }), "--drop-last -1"));
  EXPECT_TRUE(contains(phases([](auto& p) { p.drop_until = 7; }), "--drop-until 7"));
  train::Phases unknown;
  unknown.weighting = nan;
  EXPECT_TRUE(contains(error_of([&] { train::check(unknown); }), "--weighting-from nan"));

  const auto relabel = [](void (*change)(train::RelabelOptions&)) {
    train::RelabelOptions r;
    change(r);
    return error_of([&] { train::check(r); });
  };
  EXPECT_EQ(relabel([](auto&) {}), "no error");
  EXPECT_TRUE(contains(relabel([](auto& r) { r.from = -1; }), "--relabel-from -1"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.every = 0; }), "--relabel-every 0"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.passes = 0; }), "--passes 0"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.scales = {}; }), "--relabel-scales"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.scales = {1, 90}; }), "--relabel-scales 90"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.keep_first = 70; }), "--keep-first 70"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.keep_last = -1; }), "--keep-last -1"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.keep_at_least = -5; }), "--keep-pixels -5"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.found_at_least = 80; }), "--found 80"));
  EXPECT_TRUE(contains(relabel([](auto& r) { r.threshold = 30; }), "--tau 30"));
}

}  // namespace
}  // namespace crisp::test
