#include "crisp/image/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "crisp/base/error.h"
#include "crisp/image/jpeg.h"
#include "crisp/image/png.h"

namespace crisp::image {
namespace {

enum class Format { kJpeg, kPng };

bool starts_with(std::span<const std::byte> bytes, std::string_view magic, size_t offset = 0) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.size() >= offset && text.substr(offset).starts_with(magic);
}

// What other files people point at us are, so that the message can say it.
std::string_view other_kind(std::span<const std::byte> bytes) {
  if (starts_with(bytes, "GIF8")) return "a GIF";
  if (starts_with(bytes, "BM")) return "a BMP";
  if (starts_with(bytes, "RIFF") && starts_with(bytes, "WEBP", 8)) return "a WebP image";
  if (starts_with(bytes, "II*") || starts_with(bytes, "MM")) return "a TIFF or raw photo";
  if (starts_with(bytes, "ftyp", 4)) return "a HEIF, AVIF or video file";
  if (starts_with(bytes, "%PDF")) return "a PDF";
  if (starts_with(bytes, "version https://git-lfs")) return "a Git LFS pointer, the image itself is not here";
  return "not an image CrispFormer knows";
}

Format detect_format(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) throw Error("{}: the file is empty", name);
  if (starts_with(bytes, "\xFF\xD8\xFF")) return Format::kJpeg;
  if (starts_with(bytes, "\x89PNG\r\n\x1A\n")) return Format::kPng;
  throw Error("{}: neither JPEG nor PNG but {}; convert it to one of these", name, other_kind(bytes));
}

std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

void check_pixels(const std::string& name, ImageSize size, const DecodeLimits& limits) {
  const int64_t pixels = static_cast<int64_t>(size.width) * size.height;
  if (pixels <= limits.max_pixels) return;
  throw Error("{}: {} x {} pixels are over the limit of {}; if the file can be trusted, raise it with --max-pixels {}",
              name, size.width, size.height, limits.max_pixels, pixels);
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits) {
  return detect_format(bytes, name) == Format::kJpeg ? decode_jpeg(bytes, name, limits)
                                                     : decode_png(bytes, name, limits);
}

Mask decode_mask(std::span<const std::byte> bytes, const std::string& name, const MaskReading& reading,
                 const DecodeLimits& limits) {
  if (detect_format(bytes, name) == Format::kJpeg) {
    throw Error("{}: a JPEG where a mask is due: JPEG smears labels; masks are palette or grey PNG", name);
  }
  return decode_png_mask(bytes, name, reading, limits);
}

ImageSize decode_size(std::span<const std::byte> bytes, const std::string& name) {
  return detect_format(bytes, name) == Format::kJpeg ? jpeg_size(bytes, name) : png_size(bytes, name);
}

Image read_image(const Path& path, const DecodeLimits& limits) {
  return decode_image(as_bytes(read_text(path)), path.string(), limits);
}

Mask read_mask(const Path& path, const MaskReading& reading, const DecodeLimits& limits) {
  return decode_mask(as_bytes(read_text(path)), path.string(), reading, limits);
}

ImageSize read_size(const Path& path) {
  const MappedFile file(path);
  return decode_size(file.bytes(), path.string());
}

const std::vector<std::string>& image_extensions() {
  static const std::vector<std::string> extensions = {".jpg", ".jpeg", ".jpe", ".jfif", ".png"};
  return extensions;
}

bool is_image_name(const Path& path) {
  const auto& known = image_extensions();
  return std::find(known.begin(), known.end(), lower_extension(path)) != known.end();
}

}  // namespace crisp::image
