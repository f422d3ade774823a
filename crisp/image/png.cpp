#include "crisp/image/png.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/image/exif.h"

namespace crisp::image {
namespace {

constexpr png_alloc_size_t kMostChunkBytes = 8 << 20;  // a palette, transparency, EXIF: nothing needs more
constexpr png_uint_32 kMostChunks = 1000;

// Where libpng's errors land, and the bytes it reads. As with libjpeg, between a setjmp and the longjmp
// back to it there is only C and functions with nothing to destroy.
struct Trap {
  jmp_buf jump;
  char message[160];
  bool cut_off;
  const std::byte* next;
  size_t left;
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  Trap* trap = static_cast<Trap*>(png_get_error_ptr(png));
  std::snprintf(trap->message, sizeof trap->message, "%s", message);
  std::longjmp(trap->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep into, size_t count) {
  Trap* trap = static_cast<Trap*>(png_get_io_ptr(png));
  if (trap->left < count) {
    trap->cut_off = true;
    png_error(png, "cut off");
  }
  std::memcpy(into, trap->next, count);
  trap->next += count;
  trap->left -= count;
}

// One PNG being read: the header in the constructor, then pixels() with the transformations asked for.
class PngReader {
 public:
  PngReader(std::span<const std::byte> bytes, const std::string& name) : name_(name) {
    trap_.next = bytes.data();
    trap_.left = bytes.size();
    if (!open()) refuse();
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageSize stored_size() const {
    return {static_cast<int>(png_get_image_width(png_, info_)), static_cast<int>(png_get_image_height(png_, info_))};
  }
  int colour_type() const { return png_get_color_type(png_, info_); }
  int bit_depth() const { return png_get_bit_depth(png_, info_); }
  int channels() const { return png_get_channels(png_, info_); }

  int orientation() const {
    png_uint_32 count = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &count, &exif) == 0) return 1;
    return exif_orientation({exif, count});
  }

  // Rows without padding, of channels() samples of 8 or 16 bits. `transform` asks libpng for conversions.
  std::vector<uint8_t> pixels(void (*transform)(png_structp)) {
    size_t row_bytes = 0;
    if (!prepare(transform, row_bytes)) refuse();
    const size_t height = png_get_image_height(png_, info_);
    std::vector<uint8_t> samples(row_bytes * height);
    std::vector<png_bytep> rows(height);
    for (size_t y = 0; y < height; ++y) rows[y] = samples.data() + y * row_bytes;
    if (!read(rows.data())) refuse();
    return samples;
  }

 private:
  bool open() {
    if (setjmp(trap_.jump) != 0) return false;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &trap_, on_error, on_warning);
    if (png_ == nullptr) return false;
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_pixels decides, by the product
    png_set_chunk_malloc_max(png_, kMostChunkBytes);
    png_set_chunk_cache_max(png_, kMostChunks);
    // Text, profiles and the like are skipped unread; palette and transparency are always kept.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, reinterpret_cast<png_const_bytep>("eXIf"), 1);
    png_set_read_fn(png_, &trap_, read_bytes);
    png_read_info(png_, info_);
    return true;
  }

  bool prepare(void (*transform)(png_structp), size_t& row_bytes) {
    if (setjmp(trap_.jump) != 0) return false;
    transform(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_bytes = png_get_rowbytes(png_, info_);
    return true;
  }

  bool read(png_bytepp rows) {
    if (setjmp(trap_.jump) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }

  [[noreturn]] void refuse() {
    // From the constructor the destructor does not run; from elsewhere a second destroy does nothing.
    png_destroy_read_struct(&png_, &info_, nullptr);
    if (trap_.cut_off) throw Error("{}: the PNG is cut off: data ends too early; fetch the file again", name_);
    throw Error("{}: the PNG is damaged: {}", name_, trap_.message);
  }

  const std::string& name_;
  Trap trap_{};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void to_eight_bit_rgb(png_structp png) {
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
}

void over_white(const std::vector<uint8_t>& rgba, Image& image) {
  const uint8_t* in = rgba.data();
  for (size_t i = 0; i < image.rgb.size(); i += 3, in += 4) {
    const unsigned alpha = in[3], white = 255 * (255 - alpha);
    for (size_t c = 0; c < 3; ++c) image.rgb[i + c] = static_cast<uint8_t>((in[c] * alpha + white + 127) / 255);
  }
}

// Indices and grey values as they are, one a byte.
void to_labels(png_structp png) { png_set_packing(png); }

// Pixel i of `mask` as a message names it.
std::string position(const Mask& mask, size_t i) {
  const size_t width = static_cast<size_t>(mask.width);
  return fmt::format("({}, {})", i % width, i / width);
}

// Samples of 8 or 16 bits, most significant byte first.
unsigned sample(const std::vector<uint8_t>& bytes, size_t index, int bits) {
  return bits == 16 ? static_cast<unsigned>(bytes[2 * index] << 8 | bytes[2 * index + 1]) : bytes[index];
}

void labels_from_grey(const std::vector<uint8_t>& samples, size_t channels, int bits, const std::string& name,
                      Mask& mask) {
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    const unsigned value = sample(samples, i * channels, bits);
    if (value > 255) {
      throw Error("{}: value {} at pixel {} of a 16-bit grey mask: labels are at most 255", name, value,
                  position(mask, i));
    }
    mask.labels[i] = static_cast<uint8_t>(value);
  }
}

void labels_from_colours(const std::vector<uint8_t>& samples, size_t channels, const Palette& palette,
                         const std::string& name, Mask& mask) {
  std::map<Colour, uint8_t> index_of;
  for (size_t i = 0; i < palette.size(); ++i) index_of.emplace(palette[i], static_cast<uint8_t>(i));
  auto found = index_of.begin();  // neighbours mostly share a colour: look again only when it changes
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    const uint8_t* rgb = samples.data() + i * channels;
    const Colour colour{rgb[0], rgb[1], rgb[2]};
    if (colour != found->first) {
      found = index_of.find(colour);
      if (found == index_of.end()) {
        throw Error("{}: colour ({}, {}, {}) at pixel {} is not in the palette of the classes", name, rgb[0], rgb[1],
                    rgb[2], position(mask, i));
      }
    }
    mask.labels[i] = found->second;
  }
}

void check_opaque(const std::vector<uint8_t>& samples, size_t channels, int bits, const std::string& name,
                  const Mask& mask) {
  const unsigned opaque = bits == 16 ? 65535 : 255;
  for (size_t i = 0; i < mask.labels.size(); ++i) {
    if (sample(samples, i * channels + channels - 1, bits) == opaque) continue;
    throw Error("{}: pixel {} is transparent: a mask has a label at every pixel; save it without alpha", name,
                position(mask, i));
  }
}

}  // namespace

Image decode_png(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits) {
  PngReader reader(bytes, name);
  const ImageSize size = reader.stored_size();
  check_pixels(name, size, limits);
  const int orientation = reader.orientation();
  std::vector<uint8_t> samples = reader.pixels(to_eight_bit_rgb);
  Image image;
  if (reader.channels() == 3) {
    image.width = size.width;
    image.height = size.height;
    image.rgb = std::move(samples);
  } else {
    image = Image(size.width, size.height);
    over_white(samples, image);
  }
  return upright(std::move(image), orientation);
}

Mask decode_png_mask(std::span<const std::byte> bytes, const std::string& name, const MaskReading& reading,
                     const DecodeLimits& limits) {
  PngReader reader(bytes, name);
  const ImageSize size = reader.stored_size();
  check_pixels(name, size, limits);
  const bool coloured = reader.colour_type() == PNG_COLOR_TYPE_RGB || reader.colour_type() == PNG_COLOR_TYPE_RGBA;
  const int bits = std::max(reader.bit_depth(), 8);
  if (coloured && reading.rgb_palette == nullptr) {
    throw Error(
        "{}: an RGB image where a mask is due: save it as a palette or grey PNG of class indices, or give the "
        "palette its colours come from",
        name);
  }
  if (coloured && bits == 16) throw Error("{}: 16-bit colours cannot be looked up in a palette: save as 8-bit", name);

  const std::vector<uint8_t> samples = reader.pixels(to_labels);
  const size_t channels = static_cast<size_t>(reader.channels());
  Mask mask(size.width, size.height);
  if (channels % 2 == 0) check_opaque(samples, channels, bits, name, mask);
  if (coloured) {
    labels_from_colours(samples, channels, *reading.rgb_palette, name, mask);
  } else {
    labels_from_grey(samples, channels, bits, name, mask);
  }
  return mask;
}

ImageSize png_size(std::span<const std::byte> bytes, const std::string& name) {
  const PngReader reader(bytes, name);
  const ImageSize size = reader.stored_size();
  return turns_sideways(reader.orientation()) ? ImageSize{size.height, size.width} : size;
}

}  // namespace crisp::image
