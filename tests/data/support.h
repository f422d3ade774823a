#pragma once

#include <string>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/image/image.h"

namespace crisp::data::test {

// Writes a text file, making its folder.
void put(const Path& path, const std::string& text);

// A small grey photo (JPEG or PNG by the name) and a mask whose pixels are `labels`, repeated.
void put_image(const Path& path, int width = 8, int height = 6);
void put_mask(const Path& path, const std::vector<uint8_t>& labels, int width = 8, int height = 6);

// The message of the Error that `work` throws; "no error" when it does not.
template <typename Work>
std::string message_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace crisp::data::test

// The message of an Error contains a text; the whole message is shown when it does not.
#define EXPECT_SAYS(work, part)                                                    \
  do {                                                                             \
    const std::string said = crisp::data::test::message_of([&] { (void)(work); }); \
    EXPECT_TRUE(crisp::data::test::has(said, part)) << "said: " << said;           \
  } while (false)
