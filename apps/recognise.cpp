#include <fmt/format.h>

#include <cmath>

#include "apps/command_line.h"
#include "crisp/flow/recognise_model.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_recognise(const Arguments& arguments) {
  CommandLine line(
      "recognise",
      "Gives a trained model a second opinion. A small network that has seen a million photos (EfficientNet-Lite, "
      "shipped "
      "with the program) looks at each photo as a whole; one layer on top of it learns from your tags which classes a "
      "photo "
      "shows. From then on the model holds back classes that this says are not there: a cow is no longer half a horse. "
      "Classes that are likely there stay as they were. No mask is looked at, and the model's own weights do not "
      "change. "
      "Learns from every photo of the split; the table says how good it is on a tenth of them after learning from the "
      "rest. Writes a new model file, which predict, eval and the others take like any model.",
      "  crispformer recognise --data photos/ --model runs/student --out better.safetensors\n"
      "  crispformer recognise --data VOC2012 --split train_aug --model runs/a6 --out a6.safetensors\n"
      "  crispformer eval --model a6.safetensors --data VOC2012 --split val --out scores   # has it helped?\n");
  flow::RecogniseOptions o;
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos whose tags are learned");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--model", o.model, "model file or run folder")->required();
  line.app.add_option("--out", o.out, "the new model file")->required();
  line.app.add_option("--recogniser", o.recogniser,
                      "weights by scripts/recogniser/convert.py instead of the shipped ones");
  line.app.add_option("--batch", o.batch, "photos of one size at once");
  if (!line.parse(arguments)) return 0;

  o.workers = line.threads;
  o.seed = line.seed;
  const flow::RecogniseReport report = flow::recognise_model(o, tensor::parse_device(line.device));
  const auto percent = [](double share) { return std::isnan(share) ? "-" : fmt::format("{:.1f}%", 100 * share); };
  fmt::print("{:<16} {:>7} {:>18}\n", "class", "tagged", "average precision");
  for (size_t k = 1; k < report.classes.size(); ++k) {
    fmt::print("{:<16} {:>7} {:>18}\n", report.classes[k], report.tagged[k], percent(report.precision[k]));
  }
  fmt::print("{:<16} {:>7} {:>18}\n", "mean", "", percent(report.mean_precision));
  fmt::print("\nphotos  {} learned from; the precision is that of {} kept aside, learned from the other {}\n",
             report.photos, report.kept_aside, report.photos - report.kept_aside);
  fmt::print("model   {}\n", o.out.string());
  return 0;
}

}  // namespace crisp::apps
