#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "crisp/base/files.h"
#include "crisp/image/image.h"
#include "crisp/image/limits.h"
#include "crisp/image/palette.h"

namespace crisp::image {

// Photos. JPEG or PNG, told apart by content, never by name. Every kind becomes 8-bit RGB: grey is
// spread, CMYK is mixed (inverted where an Adobe marker says so), 16 bits are rounded to 8, EXIF
// orientation is applied, and transparency is laid over white, as a page or a viewer would show it.
// Truncated, damaged or enormous files are an Error that names the file.
Image read_image(const Path& path, const DecodeLimits& limits = {});
Image decode_image(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits = {});

// How to read masks that are not plain indices.
struct MaskReading {
  const Palette* rgb_palette = nullptr;  // RGB PNG: the class is the place of the exact colour in it
};

// Label masks: PNG with a palette (the indices, whatever the colours) or grey (the values; 1, 2 and 4
// bits are not scaled; 16 bits where no value exceeds 255). Alpha must be opaque. RGB only with a palette
// to look the colours up in. A JPEG is refused: its labels would be smeared.
Mask read_mask(const Path& path, const MaskReading& reading = {}, const DecodeLimits& limits = {});
Mask decode_mask(std::span<const std::byte> bytes, const std::string& name, const MaskReading& reading = {},
                 const DecodeLimits& limits = {});

// Width and height as read_image would give them, from the header alone.
ImageSize read_size(const Path& path);
ImageSize decode_size(std::span<const std::byte> bytes, const std::string& name);

// Whether the name ends as those of files read_image takes: what to pick from a folder.
bool is_image_name(const Path& path);
const std::vector<std::string>& image_extensions();  // lower case, with the dot, as list_files wants them

}  // namespace crisp::image
