#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace crisp::data {

// Walks through a JSON text without building it in memory: COCO's instance files reach 450 MB, of which
// all but a few numbers are polygons that are looked at later, one image at a time. Values that are asked
// for are checked; skipped ones only for quotes and matching brackets.
//
//   scan.begin_object();
//   for (std::string key; scan.next_key(key);) {
//     if (key == "id") id = scan.integer(); else scan.skip();
//   }
class JsonScan {
 public:
  // `name` begins every error message; `text` must outlive the scan.
  JsonScan(std::string name, std::string_view text) : name_(std::move(name)), text_(text) {}

  void begin_object();
  bool next_key(std::string& key);  // false: the object has ended
  void begin_array();
  bool next_item();  // false: the array has ended

  int64_t integer();
  double number();
  std::string string();

  // The text of the next value, whatever it is.
  std::string_view skip();

  // Nothing but white space may follow.
  void finish();

  // An error that says where.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  char peek();  // next character that is not white space, '\0' at the end
  void expect(char c);
  std::string_view quoted();  // a string with its quotes and escapes
  std::string_view scalar();
  bool next(char closing);

  const std::string name_;
  const std::string_view text_;
  size_t at_ = 0;
  bool first_ = false;  // just behind an opening bracket
};

}  // namespace crisp::data
