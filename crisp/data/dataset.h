#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/data/coco.h"
#include "crisp/data/rasterise.h"
#include "crisp/image/image.h"

namespace crisp::data {

enum class DatasetKind { kFolder, kVoc, kCoco };

// "folder", "VOC", "COCO".
std::string to_string(DatasetKind kind);

// Where image tags come from. kAuto: tag files, then VOC's Annotations/*.xml or a folder's sub-folders;
// never masks. kMasks looks at pixel labels and is to be asked for by name.
enum class TagSource { kAuto, kFiles, kXml, kMasks };

// "auto", "files", "xml", "masks"; anything else is a UsageError.
TagSource parse_tag_source(const std::string& name);

// One photo. `tags` are class numbers >= 1 in ascending order; `has_tags` tells "shows none of the
// classes" (an empty list) from "nobody said what it shows". `mask` is a label PNG; a COCO sample has
// its place in the instance file instead.
struct Sample {
  struct Instances {
    size_t file, image;  // Dataset::instances[file], image number in it
  };

  std::string id;  // unique; path below the image folder without extension, so it may contain '/'
  Path image;
  std::vector<int> tags;
  bool has_tags = false;
  std::optional<Path> mask;
  std::optional<Instances> instances;

  bool has_mask() const { return mask.has_value() || instances.has_value(); }
};

// What reading the lists found odd: none of it stops a data set from being used, `check` reports it all.
struct Findings {
  std::vector<std::string> unknown_tags;         // "tags.txt line 3: 'catt'" (an error unless lenient)
  std::vector<std::string> tags_without_image;   // names in tag files that no image has
  std::vector<std::string> split_without_image;  // "train: 2007_000032"
  std::vector<std::string> listed_twice;         // "train: 2007_000032"
  std::vector<std::string> bad_lists;  // unreadable tag sources, each with its reason (an error unless lenient)
};

struct OpenOptions {
  TagSource tags_from = TagSource::kAuto;
  std::string only_split;      // COCO: read this annotation file alone (the others may be 450 MB)
  uint64_t seed = 0;           // of the hold-out, where a folder has no splits
  double hold_out = 0.1;       // its share, at least one image
  RasteriseOptions rasterise;  // COCO: overlaps and crowds
  bool lenient = false;        // unknown tags and broken lists go to `findings` instead of being errors
  int threads = 1;             // for reading tags from masks
};

// A set of photos with tags and, where they exist, masks. A value: open_dataset fills it, others read it.
class Dataset {
 public:
  DatasetKind kind = DatasetKind::kFolder;
  Path root;
  ClassNames classes;
  std::vector<Sample> all;                            // in a fixed order: by id, COCO as its files list them
  std::map<std::string, std::vector<size_t>> splits;  // name -> places in `all`, in the list's order
  bool made_splits = false;                           // train and val are a random hold-out of ours
  std::vector<std::shared_ptr<const CocoFile>> instances;
  RasteriseOptions rasterise;
  Findings findings;

  // The samples of a split, in its order. "all" always exists; "train" finds "train2017" when only one
  // split starts so. An unknown or empty split is an error that names those there are.
  std::vector<Sample> samples(const std::string& split) const;
  std::string resolve_split(const std::string& split) const;

  // The truth of one sample: read from PNG, or rasterised from instances. A label outside the classes is
  // an error. Callers ensure sample.has_mask(). Safe from several threads.
  image::Mask read_mask(const Sample& sample) const;

  // Replaces every tag by those of `tags` (id -> class numbers); samples it does not name become untagged.
  // Returns how many samples were tagged; a class number outside the classes is an error that names the id.
  size_t set_tags(const std::map<std::string, std::vector<int>>& tags);

  // One line for each kind of finding, for the log.
  std::vector<std::string> warnings() const;
};

// Throws unless some sample of the split has tags; the message says where tags were looked for.
void require_tags(const Dataset& dataset, const std::string& split);

// Finds out what `root` is, by its folders, in this order:
//
//   VOC     JPEGImages/ (also below VOC20xx/ or VOCdevkit/VOC20xx/), SegmentationClass/ (else
//           SegmentationClassAug/), ImageSets/Segmentation/NAME.txt; tags from tags/*.txt
//           (`id class class ...`), else Annotations/ID.xml; classes.txt where they are not VOC's own.
//   COCO    annotations/instances_NAME.json, images in NAME/, images/NAME/ or images/; tags and masks come
//           from the instances; split NAME.
//   folder  images/ (with sub-folders), tags.txt (`name tag tag ...`) or tags.csv (`file,tag;tag`) or one
//           sub-folder per tag (below images/ or the root); classes.txt (background first; made from the
//           tags, sorted, where absent), masks/NAME.png, splits/NAME.txt (else a seeded hold-out: train, val).
//
// A tag is a class name or its number; "background" or 0 says that none is shown, an empty line says
// nothing. Names are written with or without folder (where that is unique) and extension.
Dataset open_dataset(const Path& root, const OpenOptions& options = {});

}  // namespace crisp::data
