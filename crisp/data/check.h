#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crisp/data/dataset.h"

namespace crisp::data {

struct CheckOptions {
  int threads = 1;
  bool decode = true;  // false: only the headers of images are read
};

// What `crispformer check` found out. Lists hold names ready to print.
struct CheckReport {
  struct Range {
    int low = 0, median = 0, high = 0;
  };
  struct Split {
    std::string name;
    size_t images = 0, tagged = 0, masked = 0;
    std::vector<size_t> tagged_with;  // images by class; [0] those tagged with none
  };

  DatasetKind kind = DatasetKind::kFolder;
  Path root;
  ClassNames classes;
  size_t images = 0, tagged = 0, masked = 0;
  Range width, height;
  std::vector<Split> splits;
  std::vector<int64_t> mask_pixels;  // by class
  int64_t ignored_pixels = 0;

  // Problems: something to mend.
  Findings findings;
  std::vector<std::string> unreadable;    // "path: reason", images and masks
  std::vector<std::string> size_differs;  // image and mask
  std::vector<std::string> untagged;      // where others have tags
  std::vector<std::string> empty_splits;
  bool nothing_known = false;  // neither tags nor masks

  // Notes: worth knowing.
  std::vector<std::string> not_in_mask;   // "id: cat" is tagged, the mask has none
  std::vector<std::string> not_in_tags;   // "id: cat" is in the mask, not tagged
  size_t compared = 0;                    // samples with both
  std::vector<std::string> same_photo;    // "a = b": the same bytes
  std::vector<std::string> never_tagged;  // classes
  std::vector<std::string> in_train_and_val;

  bool ok() const { return problems().empty(); }
  std::vector<std::string> problems() const;  // a line each
  std::vector<std::string> notes() const;
};

// Reads every image and mask. Open the set with OpenOptions::lenient, so that what is wrong is collected
// instead of thrown.
CheckReport check(const Dataset& dataset, const CheckOptions& options);

// For people: a summary, a table of the splits, a table of the classes, problems and notes.
std::string to_text(const CheckReport& report);

}  // namespace crisp::data
