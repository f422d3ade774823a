#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "apps/command_line.h"
#include "crisp/base/error.h"
#include "crisp/base/progress.h"
#include "crisp/base/version.h"
#include "crisp/tensor/torch.h"

namespace crisp::apps {
namespace {

struct Command {
  std::string_view name, what;
  int (*run)(const Arguments&);
};

constexpr std::array kCommands = {
    Command{"run", "photos and tags to a model, masks and a report: the whole way", run_run},
    Command{"classify", "learn the tags of photos: the first step from tags to masks", run_classify},
    Command{"seeds", "tags to pseudo-masks: where in each photo its tags are", run_seeds},
    Command{"seeds-import", "pseudo-masks made elsewhere: PNG masks, or activation maps of public code",
            run_seeds_import},
    Command{"train", "learn a CrispFormer from pseudo-masks, with a teacher that relabels", run_train},
    Command{"relabel", "a trained model's labels of photos whose tags are known, as pseudo-masks for a next one",
            run_relabel},
    Command{"calibrate", "shift a trained model's classes until they are found as often as they are tagged",
            run_calibrate},
    Command{"recipe", "what a run is made by: list the recipes, show one, compare two", run_recipe},
    Command{"ablate", "the paper's tables as grids of trainings, with its figures beside ours", run_ablate},
    Command{"show", "a contact sheet of seeds, a run or a data set, to look at", run_show},
    Command{"predict", "cut out every object in photos: masks, overlays, uncertainty", run_predict},
    Command{"eval", "measure masks or a model: every number with its interval, tables, a report", run_eval},
    Command{"compare", "two evaluations of the same images: differences, intervals, p-values", run_compare},
    Command{"check", "look through a data set: counts, sizes, tags, what cannot be read", run_check},
    Command{"synth", "render scenes with exact masks and tags", run_synth},
    Command{"info", "the program, an architecture's cost, or what a weight file is", run_info},
    Command{"bench", "time a network, alone and from JPEG to mask", run_bench},
};

void print_help() {
  fmt::print("crispformer {}: semantic segmentation learned from image tags alone\n\n", version());
  fmt::print("Usage: crispformer COMMAND [OPTIONS]\n\nCommands:\n");
  for (const Command& command : kCommands) fmt::print("  {:<13} {}\n", command.name, command.what);
  fmt::print("\n`crispformer COMMAND --help` explains one with examples.\n");
}

int run(const Arguments& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    print_help();
    return arguments.empty() ? 2 : 0;
  }
  if (arguments[0] == "--version") {
    fmt::print("crispformer {} ({})\n", version(), commit());
    return 0;
  }
  for (const Command& command : kCommands) {
    if (command.name == arguments[0]) return command.run({arguments.begin() + 1, arguments.end()});
  }
  throw UsageError("unknown command '{}': `crispformer --help` lists them", arguments[0]);
}

// OpenMP's threads spin while they wait for each other, and so keep the cores from the threads that decode, refine
// and load beside the network: with both cores busy a training step took up to seven times as long. The runtime reads
// its policy when it is loaded, so the program has to start once more with the variable set. Not to spin at all would
// be as bad: waking a thread for every small operator made two threads no faster than one. A thousand turns bridge
// the gaps inside a step and end where somebody else needs the core. A user's own choice stays, and `bench` spins:
// nothing runs beside its network.
void spin_briefly(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "bench") return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "1000", 1);
  execv("/proc/self/exe", argv);  // on failure it goes on as it is
}

int fail(int status, std::string_view message) {
  Progress::clear_line();
  fmt::print(stderr, "error: {}\n", message);
  return status;
}

}  // namespace
}  // namespace crisp::apps

int main(int argc, char** argv) {
  crisp::apps::spin_briefly(argc, argv);
  try {
    return crisp::apps::run({argv + 1, argv + argc});
  } catch (const crisp::UsageError& error) {
    return crisp::apps::fail(2, error.what());
  } catch (const crisp::Error& error) {
    return crisp::apps::fail(1, error.what());
  } catch (const c10::Error& error) {
    return crisp::apps::fail(1, error.what_without_backtrace());
  } catch (const std::exception& error) {
    return crisp::apps::fail(1, error.what());
  }
}
