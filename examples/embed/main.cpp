// Segments one image and prints how much of it each class covers.
#include <array>
#include <cstdio>
#include <exception>

#include "crisp/image/decode.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/load.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: embed MODEL IMAGE\n");
    return 2;
  }
  try {
    crisp::infer::Predictor predictor(crisp::model::load_segmenter(argv[1]), torch::kCPU, torch::kFloat, {});
    const crisp::image::Mask mask = predictor.run({crisp::image::read_image(argv[2])}).front().labels;

    std::array<size_t, 256> pixels{};
    for (const uint8_t label : mask.labels) ++pixels[label];
    const crisp::ClassNames& names = predictor.config().classes;
    for (size_t i = 0; i < names.size(); ++i) {
      const double share = static_cast<double>(pixels[i]) / static_cast<double>(mask.labels.size());
      if (pixels[i] > 0) std::printf("%6.2f%%  %s\n", 100 * share, names[i].c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
