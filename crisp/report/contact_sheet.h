#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "crisp/base/classes.h"
#include "crisp/image/image.h"
#include "crisp/report/html.h"

namespace crisp::report {

// One picture of a contact sheet. The functions below make them; anything else may be shown as well.
struct SheetPicture {
  std::string caption;  // pictures of one caption stand in one column
  image::Image image;
  bool photo = true;            // goes into the page as JPEG; a drawing with flat colours as PNG
  std::vector<uint8_t> labels;  // classes drawn in it, for the legend
  bool heat = false;            // the legend explains its colours
};

struct SheetRow {
  std::string name;
  std::vector<std::string> tags;  // class names; those of SheetPage::classes have their colour beside them
  std::string note;               // a score, a remark; may be empty
  std::vector<SheetPicture> pictures;
};

struct SheetPage {
  std::string title, lead;
  std::vector<std::pair<std::string, std::string>> facts;  // "images", "24 of 1,464"
  ClassNames classes;                                      // the legend names those that occur
  std::vector<SheetRow> rows;
  std::string command, version, commit;
};

// A page that needs nothing but itself: a row an image, its pictures side by side under captions that stay in
// sight; on a phone two in a line, each with its caption. A row may lack pictures that others have.
std::string contact_sheet(const SheetPage& contents);
// The same rows with their legend, as a part of another page.
Html picture_sheet(const std::vector<SheetRow>& rows, const ClassNames& classes);

// Pictures at thumbnail size (kThumbnail of showcase.h), so that 24 images with 5 pictures each stay below 4 MB.
// Labels and levels may have any resolution; they are fitted to the photo. Without a photo (an empty image) the
// labels or levels are drawn alone.
SheetPicture sheet_photo(const std::string& caption, const image::Image& photo);
// Classes in their colours, 0 clear, over the photo.
SheetPicture sheet_labels(const std::string& caption, const image::Image& photo, const image::Mask& labels);
// Levels 0..255 in the colours of viridis over the photo in grey, the more the higher they are: class activation.
SheetPicture sheet_activation(const std::string& caption, const image::Image& photo, const image::Mask& levels);
// Levels alone: uncertainty, boundaries.
SheetPicture sheet_levels(const std::string& caption, const image::Mask& levels);

}  // namespace crisp::report
