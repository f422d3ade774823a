#include "crisp/image/jpeg.h"

// jpeglib.h wants these two before it.
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include <csetjmp>
#include <cstring>
#include <string_view>
#include <vector>

#include "crisp/base/error.h"
#include "crisp/image/exif.h"

namespace crisp::image {
namespace {

// A file of more scans than any encoder writes only serves to keep a decoder busy.
constexpr int kMostScans = 500;

// Where libjpeg's errors land. Everything between a setjmp and the longjmp back to it is either C or a
// function with nothing to destroy; memory for pixels is allocated outside.
struct Trap {
  jpeg_error_mgr manager;  // first, so that the library's pointer to it is one to the Trap
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  bool cut_off;
};

[[noreturn]] void fail(j_common_ptr info) {
  Trap* trap = reinterpret_cast<Trap*>(info->err);
  trap->manager.format_message(info, trap->message);
  std::longjmp(trap->jump, 1);
}

// libjpeg fills in grey after the end of a cut-off file and goes on after damage, with a warning at most.
// Warnings mean lost pixels and are errors here, but for three that cameras and old programs cause.
// They are known by their text: the codes' numbers differ between builds of the library and its headers.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  const std::string_view text = info->err->jpeg_message_table[info->err->msg_code];
  const auto says = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (says("extraneous bytes before marker") || says("JFIF revision number") || says("Adobe color transform")) return;
  reinterpret_cast<Trap*>(info->err)->cut_off = says("Premature end of JPEG");
  fail(info);
}

void on_progress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMostScans) return;
  Trap* trap = reinterpret_cast<Trap*>(info->err);
  std::snprintf(trap->message, sizeof trap->message, "more than %d scans", kMostScans);
  std::longjmp(trap->jump, 1);
}

// One decompression. The steps return false when libjpeg gave up, and leave the reason in the trap.
class JpegReader {
 public:
  JpegReader(std::span<const std::byte> bytes, const std::string& name) : name_(name) {
    if (!open(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size())) refuse();
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  ImageSize stored_size() const { return {static_cast<int>(info_.image_width), static_cast<int>(info_.image_height)}; }

  int orientation() const {
    constexpr size_t kLead = 6;  // "Exif", two zeros, then the TIFF block
    for (jpeg_saved_marker_ptr marker = info_.marker_list; marker != nullptr; marker = marker->next) {
      if (marker->marker != JPEG_APP0 + 1 || marker->data_length < kLead) continue;
      if (std::memcmp(marker->data, "Exif\0", kLead - 1) != 0) continue;
      return exif_orientation({marker->data + kLead, marker->data_length - kLead});
    }
    return 1;
  }

  Image pixels() {
    const ImageSize size = stored_size();
    Image image(size.width, size.height);
    const bool cmyk = info_.num_components == 4;
    std::vector<uint8_t> scratch(cmyk ? static_cast<size_t>(size.width) * 4 : 0);
    if (!(cmyk ? read_cmyk(image.rgb.data(), scratch.data()) : read_rgb(image.rgb.data()))) refuse();
    return image;
  }

 private:
  bool open(const unsigned char* bytes, size_t count) {
    info_.err = jpeg_std_error(&trap_.manager);
    trap_.manager.error_exit = fail;
    trap_.manager.emit_message = on_message;
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_create_decompress(&info_);
    progress_.progress_monitor = on_progress;
    info_.progress = &progress_;
    jpeg_mem_src(&info_, bytes, static_cast<unsigned long>(count));
    jpeg_save_markers(&info_, JPEG_APP0 + 1, 0xFFFF);
    jpeg_read_header(&info_, TRUE);
    return true;
  }

  bool read_rgb(uint8_t* rgb) {
    if (setjmp(trap_.jump) != 0) return false;
    info_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = rgb + static_cast<size_t>(info_.output_scanline) * info_.output_width * 3;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  // Light left by four inks: R = (1 - C) (1 - K) and so on. Adobe stores the light, 1 - ink.
  bool read_cmyk(uint8_t* rgb, uint8_t* scratch) {
    if (setjmp(trap_.jump) != 0) return false;
    info_.out_color_space = JCS_CMYK;
    jpeg_start_decompress(&info_);
    const unsigned flip = info_.saw_Adobe_marker ? 0u : 255u;
    while (info_.output_scanline < info_.output_height) {
      uint8_t* out = rgb + static_cast<size_t>(info_.output_scanline) * info_.output_width * 3;
      jpeg_read_scanlines(&info_, &scratch, 1);
      const uint8_t* inks = scratch;
      for (JDIMENSION x = 0; x < info_.output_width; ++x, inks += 4, out += 3) {
        const unsigned black = inks[3] ^ flip;
        for (int c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(((inks[c] ^ flip) * black + 127) / 255);
      }
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  [[noreturn]] void refuse() {
    // From the constructor the destructor does not run; from elsewhere a second destroy does nothing.
    jpeg_destroy_decompress(&info_);
    if (trap_.cut_off) throw Error("{}: the JPEG is cut off: data ends too early; fetch the file again", name_);
    throw Error("{}: the JPEG is damaged or of an unknown kind: {}", name_, trap_.message);
  }

  const std::string& name_;
  Trap trap_{};
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct info_{};
};

}  // namespace

Image decode_jpeg(std::span<const std::byte> bytes, const std::string& name, const DecodeLimits& limits) {
  JpegReader reader(bytes, name);
  check_pixels(name, reader.stored_size(), limits);
  return upright(reader.pixels(), reader.orientation());
}

ImageSize jpeg_size(std::span<const std::byte> bytes, const std::string& name) {
  const JpegReader reader(bytes, name);
  const ImageSize size = reader.stored_size();
  return turns_sideways(reader.orientation()) ? ImageSize{size.height, size.width} : size;
}

}  // namespace crisp::image
