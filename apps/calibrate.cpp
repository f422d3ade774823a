#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/flow/calibrate_model.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_calibrate(const Arguments& arguments) {
  CommandLine line(
      "calibrate",
      "Shifts the classes of a trained model until each is found in as many photos as are tagged with it: a student of "
      "pseudo-masks sees some classes too often and others too seldom, and tags show which. With --sizes until each "
      "fills as "
      "much of the photos tagged with it as you say: it draws some too large and others too small, and a rough guess "
      "by someone who knows the photos is enough. No mask is looked at. Writes a new model file.",
      "  crispformer calibrate --data photos/ --model runs/student --out better.safetensors\n"
      "  crispformer calibrate --data VOC2012 --split train_aug --model runs/a6 --photos 4000 --out a6.safetensors\n"
      "  printf 'cat 30\\nbottle 10\\n' > sizes.txt   # percent of a photo, on the average\n"
      "  crispformer calibrate --data photos/ --model runs/student --sizes sizes.txt --out better.safetensors\n");
  flow::CalibrateOptions o;
  std::string dtype = "f32";
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos whose tags are matched");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--model", o.model, "model file or run folder")->required();
  line.app.add_option("--sizes", o.sizes,
                      "a file with a line `NAME PERCENT` for each class: how much of a photo it fills");
  line.app.add_option("--out", o.out, "the new model file")->required();
  line.app.add_option("--photos", o.photos, "to look at, evenly spread over the split; 0: all");
  line.app.add_option("--batch", o.batch, "photos of one size at once");
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16");
  if (!line.parse(arguments)) return 0;

  o.dtype = tensor::parse_dtype(dtype);
  o.workers = line.threads;
  o.seed = line.seed;
  const flow::CalibrateReport report = flow::calibrate_model(o, tensor::parse_device(line.device));
  const train::ClassMatch& m = report.match;
  if (o.sizes.empty()) {
    fmt::print("{:<16} {:>7} {:>11} {:>10} {:>7}\n", "class", "tagged", "found", "found now", "offset");
    for (size_t k = 1; k < report.classes.size(); ++k) {
      fmt::print("{:<16} {:>7} {:>11.0f} {:>10.0f} {:>+7.2f}\n", report.classes[k], m.tagged[k], m.found[k],
                 m.matched[k], m.offsets[k]);
    }
  } else {
    fmt::print("{:<16} {:>7} {:>7} {:>7} {:>8} {:>7}\n", "class", "tagged", "size", "fills", "fills now", "offset");
    for (size_t k = 1; k < report.classes.size(); ++k) {
      const auto percent = [&](double sum) {  // of a photo with the tag
        return m.wanted[k] > 0 ? fmt::format("{:.1f}%", 100 * sum / static_cast<double>(m.tagged[k])) : "-";
      };
      fmt::print("{:<16} {:>7} {:>7} {:>7} {:>9} {:>+7.2f}\n", report.classes[k], m.tagged[k], percent(m.wanted[k]),
                 percent(m.found[k]), percent(m.matched[k]), m.offsets[k]);
    }
  }
  fmt::print("\nmodel   {}\n", o.out.string());
  return 0;
}

}  // namespace crisp::apps
