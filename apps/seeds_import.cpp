#include "apps/seed_options.h"
#include "crisp/flow/import_seeds.h"

namespace crisp::apps {

int run_seeds_import(const Arguments& arguments) {
  CommandLine line(
      "seeds-import",
      "Takes pseudo-masks made elsewhere into a seed folder: PNG masks, or the activation maps (.npy dicts) "
      "of the field's public code. Refines them where asked.",
      "  crispformer seeds-import --masks pseudo/ --data VOC2012 --split train_aug --out seeds\n"
      "  crispformer seeds-import --cams cam_npy/ --data VOC2012 --refine crf --crf irn --out seeds\n");
  flow::ImportOptions o;
  RefineWords words;
  words.refine = {"none"};
  bool all_labels = false;
  line.app.add_option("--masks", o.masks, "folder of PNG masks, by the photos' names");
  line.app.add_option("--cams", o.cams, "folder of .npy dicts, by the photos' names");
  line.app.add_option("--data", o.data, "the data set: VOC, COCO or folder layout")->required();
  line.app.add_option("--split", o.split, "photos that get seeds");
  line.app.add_option("--tags-from", o.tags_from, "auto, files, xml or masks");
  line.app.add_option("--out", o.out, "the seed folder")->required();
  line.app.add_option("--cam-first", o.cam_first, "the class that the maps call 0 (they leave out the background)");
  line.app.add_option("--confidence", o.confidence, "of a mask's label, where masks are refined")
      ->check(CLI::Range(0.01, 0.999));
  line.app.add_flag("--all-labels", all_labels, "keep labels that the photo is not tagged with");
  bind_refinement(line.app, words, o.seed);
  if (!line.parse(arguments)) return 0;
  apply(words, o.seed);
  o.crf = words.crf;
  o.only_tags = !all_labels;
  o.seed.workers = line.threads;
  o.random_seed = line.seed;
  o.command = as_typed("seeds-import", arguments);
  print_seed_counts(flow::import_seeds(o), o.out);
  return 0;
}

}  // namespace crisp::apps
