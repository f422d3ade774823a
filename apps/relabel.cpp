#include <fmt/format.h>

#include "apps/command_line.h"
#include "apps/training_options.h"
#include "crisp/base/error.h"
#include "crisp/flow/relabel_seeds.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_relabel(const Arguments& arguments) {
  CommandLine line(
      "relabel",
      "Labels photos whose tags are known with a trained model: what `train` does between its epochs, with the model "
      "of a finished run, and as thoroughly as one likes. Writes a seed folder, from which a next student can learn. "
      "A photo in which the model misses a tag keeps the labels it has in --seeds.",
      "  crispformer relabel --data photos/ --model runs/student --seeds seeds --out seeds2\n"
      "  crispformer relabel --data VOC2012 --split train_aug --model runs/a0 --seeds seeds --scales 1,1.5,2 --flip "
      "\\\n"
      "      --refine par --out seeds2\n"
      "  crispformer train --data photos/ --seeds seeds2 --out runs/second\n");
  flow::RelabelSeedsOptions o;
  std::vector<std::string> refine = {"none"};
  std::string dtype = "f32";
  train::RelabelOptions& r = o.relabel;
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos to label");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--tags", o.tags, "a cls_labels*.npy instead of the data set's own tags");
  line.app.add_option("--model", o.model, "model file or run folder")->required();
  line.app.add_option("--seeds", o.seeds, "the labels so far; without, every photo gets what the model says");
  line.app.add_option("--out", o.out, "the new seed folder")->required();
  line.app.add_option("--scales", r.scales, "photos are looked at at these scales; passes are shared out")
      ->delimiter(',');
  line.app.add_flag("--flip", r.flip, "and mirrored");
  line.app.add_option("--passes", r.passes, "predictions with dropout that are averaged; 1: without dropout");
  line.app.add_option("--refine", refine, "none, crf or par: edges of the labels")->delimiter(',');
  line.app.add_option("--trust", r.trust, "in the labels so far, against the model: 0 none, 1 as much as in it")
      ->check(CLI::Range(0.0, 10.0));
  line.app.add_flag("--all", r.all, "label photos too in which the model misses a tag");
  line.app.add_option("--batch", o.batch, "photos of one size at once");
  line.app.add_option("--dtype", dtype, "f32, bf16 or fp16");
  bind_features(line.app, o.features);
  if (!line.parse(arguments)) return 0;

  r.refine.chain = seed::parse_refinements(refine);
  if (o.seeds.empty() && r.trust > 0) throw UsageError("--trust {}: in which labels? It needs --seeds", r.trust);
  if (r.refine.has(seed::Refinement::kAffinity)) throw UsageError("--refine affinity: it is none, or of crf, par");
  o.dtype = tensor::parse_dtype(dtype);
  o.workers = line.threads;
  o.seed = line.seed;
  o.command = as_typed("relabel", arguments);
  const train::RelabelReport report = flow::relabel_seeds(o, tensor::parse_device(line.device));
  fmt::print("{} photos in {}\n", report.images, o.out.string());
  if (!o.seeds.empty()) fmt::print("{:.1f}% of the pixels as before, ", 100 * report.agreement);
  fmt::print("{:.1f}% of the tags found{}\n", 100 * report.found,
             report.miou < 0 ? "" : fmt::format(", mIoU against the masks there are {:.2f}", report.miou));
  return 0;
}

}  // namespace crisp::apps
