#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/student_options.h"
#include "crisp/base/error.h"
#include "crisp/base/interrupt.h"
#include "crisp/base/text.h"
#include "crisp/flow/ablate.h"
#include "crisp/flow/ablation_grid.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

// "crf=seeds/crf", or a folder by itself, which goes by its own name.
std::pair<std::string, Path> named_folder(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return {Path(word).lexically_normal().filename().string(), word};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

}  // namespace

int run_ablate(const Arguments& arguments) {
  CommandLine line(
      "ablate",
      "The paper's tables as grids of trainings: every row trained several times with other seeds and "
      "measured on held-out photos; mean and deviation as Markdown, CSV and a page, the paper's figures "
      "beside ours, marked as theirs. Stopped, the same command goes on.",
      "  crispformer ablate --data scenes/ --seeds seeds/ --table components --runs 3 --epochs 10 --out ab\n"
      "  crispformer ablate --data scenes/ --table seeds --seeds crf=seeds/ --seeds par=seeds_par/ --out ab\n"
      "  crispformer ablate --data scenes/ --seeds seeds/ --rows A0,A6 --drop-first 0 --drop-last 0 --out ab\n"
      "  crispformer ablate --table cost --arch mit_b0 --out ab\n");
  flow::AblateOptions o;
  std::vector<std::string> seeds;
  o.student.arch = "mit_b0";
  o.student.task.augment.crop = -1;
  o.student.trainer.epochs = 40;
  o.student.trainer.validate_every = 0;
  o.student.trainer.schedule.decay = "poly";
  line.app.add_option("--table", o.table, join(flow::grid_names(), ", "));
  line.app.add_option("--rows", o.rows, "some rows of the table; by default all")->delimiter(',');
  line.app.add_option("--data", o.student.data, "the data set: VOC, COCO or folder layout");
  line.app.add_option("--split", o.student.split, "photos to learn from");
  line.app.add_option("--val", o.val, "photos to measure on: a split with masks, or auto");
  line.app.add_option("--seeds", seeds, "a seed folder; several for --table seeds, as NAME=FOLDER");
  line.app.add_option("--runs", o.runs, "trainings a row")->check(CLI::Range(1, 100));
  line.app.add_option("--out", o.out, "folder for the runs and the tables")->required();
  line.app.add_option("--size", o.size, "side of the image for --table cost");
  bind_student(line.app, o.student);
  if (!line.parse(arguments)) return 0;

  if (o.table != "cost" && (o.student.data.empty() || seeds.empty())) {
    throw UsageError("--data and --seeds are needed: what the rows learn from");
  }
  for (const std::string& word : seeds) o.seed_folders.push_back(named_folder(word));
  o.threads = o.student.task.workers = line.threads;
  o.student.task.amp = tensor::parse_dtype(o.student.trainer.amp);
  o.command = as_typed("ablate", arguments);
  o.config = line.effective_config();
  const InterruptGuard interrupt;
  const auto table = flow::ablate(o, tensor::parse_device(line.device), [&] { return interrupt.requested(); });
  if (!table) {
    fmt::print("stopped and saved; the same command goes on\n");
    return 130;
  }
  fmt::print("{}\n{}\n", report::to_markdown(*table), (o.out / (o.table + ".html")).string());
  return 0;
}

}  // namespace crisp::apps
