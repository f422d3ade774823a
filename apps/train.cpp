#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/student_options.h"
#include "apps/training_options.h"
#include "crisp/base/interrupt.h"
#include "crisp/flow/train_student.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {
namespace {

// The preset decides what no other option says, on the command line or in a configuration file.
void take_preset(CLI::App& app, const std::string& preset, flow::StudentOptions& o) {
  flow::StudentOptions wanted;
  wanted.trainer.epochs = o.trainer.epochs;
  flow::apply_preset(preset, wanted);
  flow::apply_arch(o.arch, wanted);
  take_unless_given(app, "--rate", o.task.encoder_rate, wanted.task.encoder_rate);
  take_unless_given(app, "--head-rate", o.task.head_rate, wanted.task.head_rate);
  take_unless_given(app, "--weight-decay", o.task.weight_decay, wanted.task.weight_decay);
  take_unless_given(app, "--decay", o.trainer.schedule.decay, wanted.trainer.schedule.decay);
  take_unless_given(app, "--epochs", o.trainer.epochs, wanted.trainer.epochs);
}

}  // namespace

int run_train(const Arguments& arguments) {
  CommandLine line(
      "train",
      "Learns a CrispFormer from seeds: uncertainty-weighted, heteroscedastic and boundary losses, an EMA teacher that "
      "relabels. Writes a run folder; its model.safetensors is the teacher at the end. Ctrl-C saves and ends; --resume "
      "goes on.",
      "  crispformer train --data photos/ --seeds seeds/ --out runs/student\n"
      "  crispformer train --data VOC2012 --split train_aug --seeds seeds/ --arch mit_b1 --init mit_b1.safetensors \\\n"
      "      --epochs 40 --batch 16 --amp bf16 --out runs/a6\n"
      "  crispformer train --data VOC2012 --seeds seeds/ --ablation A0 --out runs/a0\n"
      "  crispformer train --data VOC2012 --labels masks --out runs/supervised\n"
      "  crispformer train --resume runs/student\n");
  flow::StudentOptions o;
  o.task.augment.crop = -1;
  o.trainer.epochs = 40;
  const Resumed resumed = with_resumed_options(arguments);
  std::string resume, preset = "segformer";
  flow::apply_preset(preset, o);
  bind_student_run(line.app, o);
  line.app.add_option("--resume", resume, "go on with this run; its options are read from there")->configurable(false);
  line.app.add_option("--preset", preset, "rates and decay: segformer or paper");
  bind_student(line.app, o);
  if (!line.parse(resumed.arguments)) return 0;
  take_preset(line.app, preset, o);

  o.task.workers = line.threads;
  o.task.seed = o.trainer.seed = line.seed;
  o.task.amp = tensor::parse_dtype(o.trainer.amp);
  o.resume = !resumed.run.empty();
  o.command = as_typed("train", arguments);
  o.config = line.effective_config();
  const InterruptGuard interrupt;
  const flow::StudentReport report =
      flow::train_student(o, tensor::parse_device(line.device), [&] { return interrupt.requested(); });
  if (!report.complete) {
    fmt::print("stopped and saved; `crispformer train --resume {}` goes on\n", o.out.string());
    return 130;
  }
  fmt::print("{}\n", (o.out / "model.safetensors").string());
  return 0;
}

}  // namespace crisp::apps
