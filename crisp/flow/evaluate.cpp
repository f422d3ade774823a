#include "crisp/flow/evaluate.h"

#include <map>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/image/resize.h"

namespace crisp::flow {

void add_example_photos(report::Examples& examples, const Truth& truth) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < truth.masks.size(); ++i) places.emplace(truth.masks[i].name, i);
  for (auto* list : {&examples.worst, &examples.best}) {
    for (report::Example& example : *list) {
      const Path& photo = truth.photos[places.at(example.name)];
      if (photo.empty()) continue;
      try {
        example.photo = image::resize(image::read_image(photo), example.truth.width, example.truth.height);
      } catch (const Error& error) {
        log_warning("{}", error.what());
      }
    }
  }
}

metric::Options with_classes(metric::Options options, const ClassNames& classes) {
  options.classes = static_cast<int>(classes.size());
  metric::check(options);
  return options;
}

}  // namespace crisp::flow
