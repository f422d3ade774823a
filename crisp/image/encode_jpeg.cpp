// jpeglib.h wants these two before it.
#include <cstdio>
#include <cstdlib>

#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>

#include "crisp/base/error.h"
#include "crisp/image/encode.h"

namespace crisp::image {
namespace {

constexpr int kFullColourQuality = 90;

// Where libjpeg's errors land; nothing between setjmp and longjmp has a destructor.
struct Trap {
  jpeg_error_mgr manager;  // first, so that the library's pointer to it is one to the Trap
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  Trap* trap = reinterpret_cast<Trap*>(info->err);
  trap->manager.format_message(info, trap->message);
  std::longjmp(trap->jump, 1);
}

// Collects the bytes. (The library's own memory destination loses track of its buffer after an error.)
struct Sink {
  jpeg_destination_mgr manager;  // first, as above
  std::string* bytes;
  JOCTET buffer[1 << 14];
};

void restart(j_compress_ptr info) {
  Sink* sink = reinterpret_cast<Sink*>(info->dest);
  sink->manager.next_output_byte = sink->buffer;
  sink->manager.free_in_buffer = sizeof sink->buffer;
}

void drain(j_compress_ptr info, size_t count) {
  Sink* sink = reinterpret_cast<Sink*>(info->dest);
  bool full = false;
  try {  // an exception must not pass through C
    sink->bytes->append(reinterpret_cast<const char*>(sink->buffer), count);
  } catch (...) {
    full = true;
  }
  if (full) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
  restart(info);
}

boolean drain_full(j_compress_ptr info) {
  drain(info, sizeof Sink::buffer);
  return TRUE;
}

void drain_rest(j_compress_ptr info) {
  drain(info, sizeof Sink::buffer - reinterpret_cast<Sink*>(info->dest)->manager.free_in_buffer);
}

class JpegWriter {
 public:
  JpegWriter() = default;
  ~JpegWriter() { jpeg_destroy_compress(&info_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  std::string encode(const Image& image, int quality) {
    std::string bytes;
    sink_.bytes = &bytes;
    if (!write(image.rgb.data(), image.width, image.height, quality)) {
      throw Error("cannot write a JPEG of {} x {} pixels: {}", image.width, image.height, trap_.message);
    }
    return bytes;
  }

 private:
  bool write(const uint8_t* rgb, int width, int height, int quality) {
    info_.err = jpeg_std_error(&trap_.manager);
    trap_.manager.error_exit = fail;
    if (setjmp(trap_.jump) != 0) return false;
    jpeg_create_compress(&info_);
    sink_.manager.init_destination = restart;
    sink_.manager.empty_output_buffer = drain_full;
    sink_.manager.term_destination = drain_rest;
    info_.dest = &sink_.manager;
    info_.image_width = static_cast<JDIMENSION>(width);
    info_.image_height = static_cast<JDIMENSION>(height);
    info_.input_components = 3;
    info_.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    if (quality >= kFullColourQuality) {
      info_.comp_info[0].h_samp_factor = 1;
      info_.comp_info[0].v_samp_factor = 1;
    }
    jpeg_start_compress(&info_, TRUE);
    while (info_.next_scanline < info_.image_height) {
      // The library only reads from the row; its type is older than const.
      JSAMPROW row = const_cast<JSAMPROW>(rgb + static_cast<size_t>(info_.next_scanline) * info_.image_width * 3);
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  Trap trap_{};
  Sink sink_{};
  jpeg_compress_struct info_{};
};

}  // namespace

std::string encode_jpeg(const Image& image, int quality) {
  if (quality < 1 || quality > 100) throw Error("JPEG quality {} is not between 1 and 100", quality);
  return JpegWriter().encode(image, quality);
}

}  // namespace crisp::image
