#pragma once

#include "crisp/model/segmenter.h"

namespace crisp::test {

// The small network of tests/goldens/model_*.py: the real structure with few channels.
inline model::EncoderConfig tiny_encoder() {
  model::EncoderConfig config;
  config.arch = "custom";
  config.dims = {4, 8, 20, 32};
  config.depths = {1, 2, 1, 1};
  config.drop_path = 0;
  return config;
}

inline model::SegmenterConfig tiny_config(const std::string& row, int64_t width = 16, int64_t classes = 5) {
  model::SegmenterConfig config;
  config.encoder = tiny_encoder();
  config.head = model::ablation_row(row, width, classes);
  config.head.dropout = 0;
  config.classes = read_classes(std::to_string(classes));
  return config;
}

}  // namespace crisp::test
