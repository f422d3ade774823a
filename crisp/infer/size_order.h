#pragma once

#include <vector>

#include "crisp/base/files.h"

namespace crisp::infer {

// Places of the files such that photos of one size are neighbours, for `stream_photos`. Reads their heads; files that
// cannot be read come first, and are told of when it is their turn.
std::vector<size_t> size_order(const std::vector<Path>& files);

// Samples (anything with an `image`) in that order.
template <typename Sample>
std::vector<Sample> in_size_order(const std::vector<Sample>& samples) {
  std::vector<Path> files;
  for (const Sample& sample : samples) files.push_back(sample.image);
  std::vector<Sample> sorted;
  for (const size_t place : size_order(files)) sorted.push_back(samples[place]);
  return sorted;
}

}  // namespace crisp::infer
