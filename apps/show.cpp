#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/flow/show.h"
#include "crisp/tensor/device.h"

namespace crisp::apps {

int run_show(const Arguments& arguments) {
  CommandLine line("show",
                   "A contact sheet to look at, one self-contained page: photos of a seed folder, a run or a data set, "
                   "with truth where there is one, activation maps, labels and uncertainty.",
                   "  crispformer show seeds/ --out seeds.html\n"
                   "  crispformer show runs/tags --images 12 --out tags.html\n"
                   "  crispformer show photos/ --split train --out photos.html\n");
  flow::ShowOptions o;
  bool no_cams = false;
  line.app.add_option("what", o.what, "a seed folder, a run folder, or a data set")->required();
  line.app.add_option("--out", o.out, "the page to write");
  line.app.add_option("--images", o.images, "photos on it")->check(CLI::Range(1, 1000));
  line.app.add_option("--data", o.data, "where the photos are now, if the folder's note is out of date");
  line.app.add_option("--split", o.split, "photos to choose from; by default those the folder was made from");
  line.app.add_flag("--no-cams", no_cams, "leave out activation maps, which need the classifier");
  if (!line.parse(arguments)) return 0;
  o.cams = !no_cams;
  o.seed = line.seed;
  o.threads = line.threads;
  o.command = as_typed("show", arguments);
  const size_t count = flow::show(o, tensor::parse_device(line.device));
  fmt::print("{} photos on {}\n", count, o.out.string());
  return 0;
}

}  // namespace crisp::apps
