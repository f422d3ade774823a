// Runs that are killed, interrupted or met by a second process.
#include <sys/stat.h>

#include "tests/apps/seeds_fixture.h"

namespace crisp::test {
namespace {

namespace fs = std::filesystem;

// Starts `crispformer ARGUMENTS`, waits until `count` (a shell command that prints a number) reaches `least`, does
// `then` (in the shell, $pid being the process), and waits. The status is the process's.
ProgramResult disturbed(const std::string& arguments, const std::string& count, int least, const std::string& then) {
  return run_shell(program() + " " + arguments + " & pid=$!; while [ $(" + count + ") -lt " + std::to_string(least) +
                   " ] && kill -0 $pid; do sleep 0.01; done; " + then + "; wait $pid");
}

std::string lines_of(const Path& file) { return "cat " + quoted(file) + " 2>/dev/null | wc -l"; }
// Prints how many files are there, those still being written left out.
std::string files_in(const Path& folder) { return "ls " + quoted(folder) + " 2>/dev/null | grep -v -c -F .tmp-"; }

class Killed : public Seeds {};

TEST_F(Killed, ATrainingEndsWithTheSameBits) {
  const std::string options = "classify --epochs 3 --data " + quoted(photos()) +
                              " --arch mit_b0 --crop 32 --batch 4 --accumulate 2 --threads 2 --seed 9 --out ";
  const ProgramResult whole = run_program(options + quoted(at("whole")));
  ASSERT_EQ(whole.status, 0) << whole.err;
  const Path run = at("run"), log = run / "log.jsonl";
  ASSERT_EQ(disturbed(options + quoted(run), lines_of(log), 2, "kill -9 $pid").status, 137);
  EXPECT_FALSE(fs::exists(run / "model.safetensors"));
  const std::string resume = "classify --resume " + quoted(run);
  // A moment nobody chose: some milliseconds after the fourth line, of which there are nine and three of validation.
  ASSERT_EQ(disturbed(resume, lines_of(log), 5, "sleep 0.0$(date +%N | cut -c 8,9); kill -9 $pid").status, 137);
  const ProgramResult last = run_program(resume);
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_TRUE(contains(last.err, "going on from step")) << last.err;
  EXPECT_EQ(read_text(run / "model.safetensors"), read_text(at("whole") / "model.safetensors"));
  EXPECT_EQ(json(run / "run.json")["complete"], true);
  EXPECT_TRUE(contains(json(run / "run.json")["command"].get<std::string>(), "--epochs 3")) << "as it was begun";
  // The same lines, but for the clock's.
  const auto lines = [](const Path& file) {
    std::vector<nlohmann::json> all;
    std::string text = read_text(file);
    for (size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
      all.push_back(nlohmann::json::parse(text.substr(begin, text.find('\n', begin) - begin)));
      all.back().erase("seconds");
      all.back().erase("images_per_s");
    }
    return all;
  };
  EXPECT_EQ(lines(log), lines(at("whole") / "log.jsonl"));
  EXPECT_EQ(lines(log).size(), 12u);
  EXPECT_EQ(run_program(resume).status, 0) << "a run that is complete has nothing to do";
  const ProgramResult again = run_program(options + quoted(run));
  EXPECT_EQ(again.status, 1);
  EXPECT_TRUE(contains(again.err, "there is a run in it already (complete)")) << again.err;
}

TEST_F(Killed, CtrlCSavesAndASecondProcessIsKeptOut) {
  const Path run = at("run");
  const std::string resume = "classify --resume " + quoted(run);
  const ProgramResult result =
      disturbed("classify --epochs 2000 --val none --data " + quoted(photos()) + kTrain + "--out " + quoted(run),
                lines_of(run / "log.jsonl"), 1, program() + " " + resume + "; echo second $?; kill -INT $pid");
  EXPECT_EQ(result.status, 130) << result.err;
  EXPECT_TRUE(contains(result.out, "second 1")) << result.out;
  EXPECT_TRUE(contains(result.err, "another crispformer works in this folder")) << result.err;
  EXPECT_TRUE(contains(result.out, "stopped and saved; `crispformer classify --resume " + run.string() + "` goes on"))
      << result.out;
  EXPECT_EQ(list_files(run / "checkpoints", {".safetensors"}).size() > 0, true);
  EXPECT_FALSE(fs::exists(run / "model.safetensors"));
  const ProgramResult shorter = run_program(resume + " --epochs 1");
  EXPECT_EQ(shorter.status, 1);
  EXPECT_TRUE(contains(shorter.err, "a checkpoint of another run")) << shorter.err;
}

TEST_F(Killed, SeedsGoOnAndFinishedOnesStay) {
  const std::string base = "seeds --refine crf --scales 1,2 --batch 1 --threads 2 --data " + quoted(photos()) +
                           " --classifier " + quoted(run()) + " --out ";
  ASSERT_EQ(run_program(base + quoted(at("whole"))).status, 0);
  const Path out = at("seeds");
  ASSERT_EQ(disturbed(base + quoted(out), files_in(out / "labels"), 4, "kill -9 $pid").status, 137);
  EXPECT_EQ(json(out / "seeds.json")["complete"], false);
  const auto identities = [&] {
    std::map<std::string, std::pair<ino_t, int64_t>> all;
    for (const Path& file : list_files(out / "labels", {".png"})) {
      struct stat status{};
      EXPECT_EQ(::stat(file.c_str(), &status), 0);
      all[file.filename().string()] = {status.st_ino, status.st_mtim.tv_nsec};
    }
    return all;
  };
  const auto before = identities();
  ASSERT_GE(before.size(), 4u);
  ASSERT_LT(before.size(), 26u);
  // Ctrl-C this time.
  const ProgramResult stopped =
      disturbed(base + quoted(out), files_in(out / "labels"), static_cast<int>(before.size()) + 2, "kill -INT $pid");
  EXPECT_EQ(stopped.status, 130) << stopped.err;
  EXPECT_TRUE(contains(stopped.out, "stopped and saved; the same command goes on")) << stopped.out;
  const ProgramResult refused = run_program("seeds-import --masks " + quoted(photos() / "masks") + " --data " +
                                            quoted(photos()) + " --out " + quoted(out));
  EXPECT_EQ(refused.status, 1) << "made with other options";
  const ProgramResult last = run_program(base + quoted(out));
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_TRUE(contains(last.err, "of 26 seeds are there already")) << last.err;
  const auto after = identities();
  EXPECT_EQ(after.size(), 26u);
  for (const auto& [name, identity] : before) EXPECT_EQ(after.at(name), identity) << name;
  for (const auto& [name, identity] : after) {
    EXPECT_EQ(read_text(out / "labels" / name), read_text(at("whole") / "labels" / name)) << name;
    EXPECT_EQ(read_text(out / "uncertainty" / name), read_text(at("whole") / "uncertainty" / name)) << name;
  }
  EXPECT_EQ(json(out / "seeds.json")["counts"], json(at("whole") / "seeds.json")["counts"]);
}

}  // namespace
}  // namespace crisp::test
