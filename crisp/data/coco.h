#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/base/files.h"
#include "crisp/data/rasterise.h"
#include "crisp/image/image.h"

namespace crisp::data {

// One `instances_*.json`. Category ids (which have gaps) become 1, 2, ... by their order. The file stays
// mapped: outlines are parsed when a mask is asked for, so memory holds some 40 bytes an annotation.
class CocoFile {
 public:
  struct Image {
    int64_t id = 0;
    std::string file_name;
    int width = 0, height = 0;
    size_t first = 0, count = 0;  // its annotations
  };

  // Error for what is not the JSON of COCO instances, an annotation of an unknown image or category, ids
  // given twice, sizes that are none.
  explicit CocoFile(const Path& path);

  const Path& path() const { return path_; }
  const ClassNames& classes() const { return classes_; }
  const std::vector<Image>& images() const { return images_; }

  // Classes of the image's instances, crowds included, ascending.
  std::vector<int> tags(size_t image) const;

  // Its semantic mask, at the size the file gives. Error when an outline is malformed. Thread-safe.
  image::Mask mask(size_t image, const RasteriseOptions& options) const;

  // The instances of an image as regions, in file order.
  std::vector<Region> regions(size_t image) const;

 private:
  struct Annotation {
    int64_t id = 0, image = 0;
    int64_t category = 0;           // the file's id, then our class number
    size_t offset = 0, length = 0;  // of the outline in the file
    bool crowd = false;
  };
  struct Reader;  // the parsing

  void number_classes(const std::vector<std::pair<int64_t, std::string>>& categories);
  void sort_annotations();
  Region read_region(const Annotation& annotation, const Image& image) const;

  Path path_;
  MappedFile file_;
  ClassNames classes_;
  std::vector<Image> images_;
  std::vector<Annotation> annotations_;  // grouped by image, in file order
};

}  // namespace crisp::data
