#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/base/text.h"
#include "crisp/data/synth.h"

namespace crisp::apps {

int run_synth(const Arguments& arguments) {
  CommandLine line(
      "synth",
      "Renders scenes with objects of several classes, thin parts, occlusion and clutter, with exact masks and "
      "tags, as a folder data set. The same options give the same files.",
      "  crispformer synth --out scenes --images 200 --size 256 --classes 6\n");
  data::SynthOptions options;
  Path out;
  line.app.add_option("--out", out, "a new folder")->required();
  line.app.add_option("--images", options.images, "how many");
  line.app.add_option("--size", options.size, "longer side in pixels");
  line.app.add_option("--zoom", options.zoom, "size of the objects: above 1 close-ups, which are easier");
  line.app.add_option("--classes", options.classes,
                      fmt::format("background counted, at most {}", data::synth_class_limit()));
  if (!line.parse(arguments)) return 0;
  options.seed = line.seed;
  data::render_dataset(options, out, line.threads);
  fmt::print("{}: {} images of {} pixels; classes: {}\n", out.string(), options.images, options.size,
             join(data::synth_classes(options.classes), ", "));
  return 0;
}

}  // namespace crisp::apps
