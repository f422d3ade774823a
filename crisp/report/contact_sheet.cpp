#include "crisp/report/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>

#include "crisp/report/page.h"
#include "crisp/report/parts.h"
#include "crisp/report/picture.h"

namespace crisp::report {
namespace {

// Up to this many columns stand side by side under common captions. More would be stamps: they take several
// lines of one length instead.
constexpr size_t kColumns = 6;

size_t pictures_a_line(size_t captions) {
  const size_t lines = std::max<size_t>(1, (captions + kColumns - 1) / kColumns);
  return std::max<size_t>(1, (captions + lines - 1) / lines);
}

// Captions in the order they are met first.
std::vector<std::string> captions_of(const std::vector<SheetRow>& rows) {
  std::vector<std::string> captions;
  for (const SheetRow& row : rows) {
    for (const SheetPicture& picture : row.pictures) {
      if (std::find(captions.begin(), captions.end(), picture.caption) == captions.end())
        captions.push_back(picture.caption);
    }
  }
  return captions;
}

Html chip(size_t label, const std::string& name) { return tag("span", {}, {swatch(label), name}); }

// The place of a tag among the classes; 0 where it is none of them.
size_t label_of(const std::string& tag_name, const ClassNames& classes) {
  const auto found = std::find(classes.begin(), classes.end(), tag_name);
  return found == classes.end() ? 0 : static_cast<size_t>(found - classes.begin());
}

Html legend(const std::vector<SheetRow>& rows, const ClassNames& classes) {
  std::bitset<256> present;
  bool heat = false;
  for (const SheetRow& row : rows) {
    for (const std::string& name : row.tags) present.set(label_of(name, classes) & 0xFF);
    for (const SheetPicture& picture : row.pictures) {
      for (const uint8_t label : picture.labels) present.set(label);
      heat = heat || picture.heat;
    }
  }
  Html chips;
  for (size_t label = 1; label < 256; ++label) {
    if (!present[label]) continue;
    const bool named = label < classes.size();
    chips += chip(label, named ? classes[label] : label == image::kIgnore ? "ignored" : fmt::format("class {}", label));
  }
  if (heat) chips += tag("span", {}, {"low ", tag("span", {{"class", "scale"}}), " high"});
  if (chips.empty()) return {};
  return tag("div", {{"class", "chips spaced"}}, {chips});
}

Html figure(const SheetPicture& picture, const std::string& name) {
  const std::string alt = picture.caption + " of " + name;
  return tag("figure", {},
             {picture.photo ? photo_picture(picture.image, alt) : drawn_picture(picture.image, alt),
              tag("figcaption", {}, {picture.caption})});
}

Html pictures_in_columns(const SheetRow& row, const std::vector<std::string>& captions) {
  Html pictures;
  for (const std::string& caption : captions) {
    bool found = false;
    // Two pictures of one caption share the column, one below the other.
    Html cell;
    for (const SheetPicture& picture : row.pictures) {
      if (picture.caption != caption) continue;
      cell += figure(picture, row.name);
      found = true;
    }
    pictures += found ? tag("div", {{"class", "cell"}}, {cell}) : tag("div", {{"class", "cell empty"}});
  }
  return pictures;
}

Html row_card(const SheetRow& row, const std::vector<std::string>& captions, const ClassNames& classes) {
  Html tags;
  for (const std::string& name : row.tags) {
    const size_t label = label_of(name, classes);
    tags += label > 0 ? chip(label, name) : tag("span", {}, {name});
  }
  Html header = tag("span", {{"class", "name"}}, {row.name});
  if (!tags.empty()) header += tag("span", {{"class", "chips"}}, {tags});
  if (!row.note.empty()) header += tag("span", {{"class", "note"}}, {row.note});
  return tag("article", {{"class", "card example"}},
             {tag("header", {}, {header}), tag("div", {{"class", "strip"}}, {pictures_in_columns(row, captions)})});
}

Html sheet(const std::vector<SheetRow>& rows, const ClassNames& classes) {
  const std::vector<std::string> captions = captions_of(rows);
  const bool columns = captions.size() <= kColumns;
  Html head, cards;
  for (const std::string& caption : captions) head += tag("div", {}, {caption});
  for (const SheetRow& row : rows) cards += row_card(row, captions, classes);
  if (columns) head = tag("div", {{"class", "strip captions"}, {"aria-hidden", "true"}}, {head});
  return tag("div",
             {{"class", columns ? "sheet columned" : "sheet"},
              {"style", fmt::format("--columns:{}", pictures_a_line(captions.size()))}},
             {columns ? head : Html(), tag("div", {{"class", "examples"}}, {cards})});
}

Html origin(const SheetPage& contents) {
  if (contents.command.empty()) return {};
  Html made = tag("pre", {}, {contents.command});
  if (!contents.version.empty()) {
    made += tag("p", {{"class", "muted"}}, {"CrispFormer " + contents.version + ", commit " + contents.commit + "."});
  }
  return section("How this was made", "", card(made));
}

}  // namespace

Html picture_sheet(const std::vector<SheetRow>& rows, const ClassNames& classes) {
  if (rows.empty()) return tag("p", {{"class", "muted"}}, {"There is no image to show."});
  Html both = legend(rows, classes);
  both += sheet(rows, classes);
  return both;
}

std::string contact_sheet(const SheetPage& contents) {
  Html body = page_header("CrispFormer contact sheet", contents.title, contents.lead);
  body += facts_list(contents.facts);
  body += tag("section", {}, {picture_sheet(contents.rows, contents.classes)});
  body += origin(contents);
  return page(contents.title + " - CrispFormer contact sheet", body);
}

}  // namespace crisp::report
