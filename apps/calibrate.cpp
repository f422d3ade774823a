#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/flow/calibrate_model.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_calibrate(const Arguments& arguments) {
  CommandLine line(
      "calibrate",
      "Shifts the classes of a trained model until each is found in as many photos as are tagged with it: a student of "
      "pseudo-masks sees some classes too often and others too seldom, and tags show which. No mask is looked at. "
      "Writes a new model file.",
      "  crispformer calibrate --data photos/ --model runs/student --out better.safetensors\n"
      "  crispformer calibrate --data VOC2012 --split train_aug --model runs/a6 --photos 4000 --out a6.safetensors\n");
  flow::CalibrateOptions o;
  std::string dtype = "f32";
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos whose tags are matched");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--model", o.model, "model file or run folder")->required();
  line.app.add_option("--out", o.out, "the new model file")->required();
  line.app.add_option("--photos", o.photos, "to look at, evenly spread over the split; 0: all");
  line.app.add_option("--batch", o.batch, "photos of one size at once");
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16");
  if (!line.parse(arguments)) return 0;

  o.dtype = tensor::parse_dtype(dtype);
  o.workers = line.threads;
  o.seed = line.seed;
  const flow::CalibrateReport report = flow::calibrate_model(o, tensor::parse_device(line.device));
  const train::TagMatch& m = report.match;
  fmt::print("{:<16} {:>7} {:>11} {:>10} {:>7}\n", "class", "tagged", "found", "found now", "offset");
  for (size_t k = 1; k < report.classes.size(); ++k) {
    fmt::print("{:<16} {:>7} {:>11} {:>10} {:>+7.2f}\n", report.classes[k], m.tagged[k], m.found[k], m.matched[k],
               m.offsets[k]);
  }
  fmt::print("\nmodel   {}\n", o.out.string());
  return 0;
}

}  // namespace crisp::apps
