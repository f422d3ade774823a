#pragma once

#include "crisp/base/files.h"
#include "crisp/tensor/torch.h"

namespace crisp::flow {

struct ShowOptions {
  Path what;  // a seed folder, a run folder, or a data set
  Path data;  // the data set, where the folder's own note of it is out of date
  std::string split;
  Path out = "show.html";
  int64_t images = 24;
  bool cams = true;  // activation maps, computed anew from the classifier
  uint64_t seed = 0;
  int threads = 2;
  std::string command;
};

// A contact sheet of a sample of photos: photo, truth where there is one, activation maps, labels, uncertainty.
// Returns how many photos are on it.
size_t show(const ShowOptions& options, torch::Device device);

}  // namespace crisp::flow
