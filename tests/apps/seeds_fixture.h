#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "crisp/data/dataset.h"
#include "crisp/image/decode.h"
#include "crisp/image/encode.h"
#include "tests/support/support.h"

namespace crisp::test {

inline std::string quoted(const Path& path) { return quote(path.string()); }

// 32 rendered photos of 64 pixels and a tag classifier trained on them for a few steps, made once for all tests.
class Seeds : public testing::Test {
 protected:
  static constexpr const char* kQuick = " --scales 1 --no-flip --threads 2 ";
  static constexpr const char* kTrain = " --arch mit_b0 --crop 64 --batch 8 --threads 2 --rate 1e-3 ";

  static void SetUpTestSuite() {
    if (common_) return;  // suites derive from this one
    common_ = std::make_unique<TemporaryFolder>();
    const ProgramResult synth =
        run_program("synth --images 32 --size 64 --classes 4 --seed 3 --out " + quoted(photos()));
    ASSERT_EQ(synth.status, 0) << synth.err;
    const ProgramResult learned =
        run_program("classify --epochs 2 --data " + quoted(photos()) + kTrain + "--out " + quoted(run()));
    ASSERT_EQ(learned.status, 0) << learned.err;
    ASSERT_EQ(learned.out, (run() / "model.safetensors").string() + "\n");
  }

  static Path photos() { return common_->path() / "photos"; }
  static Path run() { return common_->path() / "run"; }
  Path at(const std::string& name) const { return folder_.path() / name; }

  static ProgramResult seeds(const Path& data, const std::string& more, const Path& out) {
    return run_program("seeds --data " + quoted(data) + " --classifier " + quoted(run()) + kQuick + more + " --out " +
                       quoted(out));
  }
  static nlohmann::json json(const Path& file) { return nlohmann::json::parse(read_text(file)); }

  // A copy of the photos whose tags can be changed.
  Path copy_of_photos(const std::string& name) const {
    std::filesystem::copy(photos(), at(name), std::filesystem::copy_options::recursive);
    return at(name);
  }

  static double miou(const Path& predictions, const Path& data, const Path& out) {
    const ProgramResult result = run_program("eval --pred " + quoted(predictions) + " --data " + quoted(data) +
                                             " --split train --out " + quoted(out));
    EXPECT_EQ(result.status, 0) << result.err;
    return json(out / "metrics.json")["miou"].get<double>();
  }

  TemporaryFolder folder_;

 private:
  static std::unique_ptr<TemporaryFolder> common_;
};

inline std::unique_ptr<TemporaryFolder> Seeds::common_;

}  // namespace crisp::test
