#pragma once

#include <fmt/format.h>

#include "tests/apps/seeds_fixture.h"

namespace crisp::test {

// 15 rendered photos of 64 pixels, 12 of them to learn from, and their masks as seeds.
class Train : public testing::Test {
 protected:
  static constexpr const char* kQuick =
      " --arch mit_b0 --width 16 --crop 32 --batch 4 --threads 1 --passes 2 --seed 9 --rate 2e-4 --head-rate 2e-3 ";

  static void SetUpTestSuite() {
    common_ = std::make_unique<TemporaryFolder>();
    ProgramResult made = run_program("synth --images 15 --size 64 --classes 4 --seed 3 --out " + quoted(photos()));
    ASSERT_EQ(made.status, 0) << made.err;
    made = run_program("seeds-import --masks " + quoted(photos() / "masks") + " --data " + quoted(photos()) +
                       " --out " + quoted(seeds()));
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static void TearDownTestSuite() { common_.reset(); }

  static Path photos() { return common_->path() / "photos"; }
  static Path seeds() { return common_->path() / "seeds"; }
  Path at(const std::string& name) const { return folder_.path() / name; }
  static std::string from_seeds() { return " --data " + quoted(photos()) + " --seeds " + quoted(seeds()) + kQuick; }
  static ProgramResult train(const std::string& options, const Path& out) {
    return run_program("train " + options + " --out " + quoted(out));
  }
  static nlohmann::json json(const Path& file) { return nlohmann::json::parse(read_text(file)); }

  // The log's lines but for what a clock decides.
  static std::vector<nlohmann::json> log_of(const Path& run) {
    std::vector<nlohmann::json> all;
    std::istringstream text(read_text(run / "log.jsonl"));
    for (std::string line; std::getline(text, line);) {
      all.push_back(nlohmann::json::parse(line));
      all.back().erase("seconds");
      all.back().erase("images_per_s");
    }
    return all;
  }

  // Starts `crispformer ARGUMENTS`, waits until `count` (a shell command that prints a number) reaches `least`, does
  // `then` (in the shell, $pid being the process), and waits. The status is the process's.
  static ProgramResult disturbed(const std::string& arguments, const std::string& count, int least,
                                 const std::string& then) {
    return run_shell(program() + " " + arguments + " & pid=$!; while [ $(" + count + ") -lt " + std::to_string(least) +
                     " ] && kill -0 $pid; do sleep 0.005; done; " + then + "; wait $pid");
  }
  static std::string files_in(const Path& folder, const std::string& pattern = "") {
    return "ls " + quoted(folder) + " 2>/dev/null | grep -c -e " + quote(pattern);
  }
  static std::string lines_of(const Path& file) { return "cat " + quoted(file) + " 2>/dev/null | wc -l"; }

  TemporaryFolder folder_;

 private:
  static inline std::unique_ptr<TemporaryFolder> common_;
};

}  // namespace crisp::test
