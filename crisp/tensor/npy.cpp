#include "crisp/tensor/npy.h"

#include <string_view>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/tensor/bytes.h"
#include "crisp/tensor/numpy_type.h"

namespace crisp::tensor {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyHeader {
  std::string type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_start = 0;
};

// The header's Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, piece by piece.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  [[noreturn]] void fail() const { throw Error("{}: corrupt .npy header", source_); }

  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\n\r"), text_.size())); }

  bool take(std::string_view piece) {
    skip_space();
    if (!text_.starts_with(piece)) return false;
    text_.remove_prefix(piece.size());
    return true;
  }

  void expect(std::string_view piece) {
    if (!take(piece)) fail();
  }

  std::string quoted() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) fail();
    const size_t end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) fail();
    std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    if (take("True")) return true;
    expect("False");
    return false;
  }

  int64_t number() {
    skip_space();
    const size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const auto value = parse_integer(text_.substr(0, digits));
    if (!value) fail();
    text_.remove_prefix(digits);
    take("L");  // Python 2 wrote long integers so
    return *value;
  }

  bool at_end() {
    skip_space();
    return text_.empty();
  }

 private:
  std::string_view text_;
  const std::string& source_;
};

NpyHeader parse_header(std::span<const std::byte> file, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.empty()) throw Error("{}: the file is empty", source);
  constexpr size_t kVersionEnd = 8;
  if (!text.starts_with(kMagic) || text.size() < kVersionEnd + 4) throw Error("{}: not a .npy file", source);
  const int version = text[6];
  if (version < 1 || version > 3) throw Error("{}: .npy format version {} is not supported", source, version);
  const size_t length_size = version == 1 ? 2 : 4;
  const size_t length = version == 1 ? load_number<uint16_t>(file.data() + kVersionEnd)
                                     : load_number<uint32_t>(file.data() + kVersionEnd);
  const size_t start = kVersionEnd + length_size;
  if (length > text.size() - start) throw Error("{}: truncated: the .npy header is not complete", source);

  NpyHeader header;
  header.data_start = start + length;
  LiteralReader reader(text.substr(start, length), source);
  bool seen_type = false, seen_order = false, seen_shape = false;
  reader.expect("{");
  while (!reader.take("}")) {
    const std::string key = reader.quoted();
    reader.expect(":");
    if (key == "descr" && !seen_type) {
      seen_type = true;
      if (reader.take("[")) throw Error("{}: arrays of records are not supported", source);
      header.type = reader.quoted();
    } else if (key == "fortran_order" && !seen_order) {
      seen_order = true;
      header.fortran_order = reader.boolean();
    } else if (key == "shape" && !seen_shape) {
      seen_shape = true;
      reader.expect("(");
      while (!reader.take(")")) {
        header.shape.push_back(reader.number());
        if (!reader.take(",")) {
          reader.expect(")");
          break;
        }
      }
    } else {
      reader.fail();
    }
    if (!reader.take(",")) {
      reader.expect("}");
      break;
    }
  }
  if (!seen_type || !seen_order || !seen_shape || !reader.at_end()) reader.fail();
  return header;
}

NumpyType type_of(const NpyHeader& header, const std::string& source) {
  const auto type = parse_numpy_type(header.type);
  if (!type) throw Error("{}: arrays of type '{}' are not supported", source, header.type.substr(0, 20));
  return *type;
}

}  // namespace

torch::Tensor read_npy(const Path& path) {
  const std::string source = path.string();
  const MappedFile file(path);
  const NpyHeader header = parse_header(file.bytes(), source);
  const NumpyType type = type_of(header, source);
  if (type.object) throw Error("{}: holds Python objects, an array of numbers was expected", source);
  return tensor_from_numpy(type, header.shape, header.fortran_order, file.bytes().subspan(header.data_start), source);
}

pickle::Document read_npy_object(const Path& path) {
  const std::string source = path.string();
  const MappedFile file(path);
  const NpyHeader header = parse_header(file.bytes(), source);
  const NumpyType type = type_of(header, source);
  const auto data = file.bytes().subspan(header.data_start);
  if (!type.object) {
    pickle::Document document;
    document.finish(document.add(tensor_from_numpy(type, header.shape, header.fortran_order, data, source)),
                    file.bytes().size());
    return document;
  }
  pickle::Document document = pickle::parse(data, source);
  const pickle::List* objects = document.root().items();
  if (objects == nullptr) throw Error("{}: corrupt file: the pickle in it is not an array", source);
  if (header.shape.empty()) {
    if (objects->size() != 1) throw Error("{}: corrupt file: one object was expected in it", source);
    document.finish(*objects->front(), document.size());
  }
  return document;
}

void write_npy(const Path& path, const torch::Tensor& tensor) {
  torch::Tensor dense = tensor.detach().to(torch::kCPU);
  if (dense.scalar_type() == torch::kBFloat16) dense = dense.to(torch::kFloat32);
  dense = dense.contiguous();
  const auto type = numpy_type_name(dense.scalar_type());
  if (!type) throw Error("{}: .npy files cannot hold type {}", path.string(), c10::toString(dense.scalar_type()));
  std::string shape;
  for (const int64_t size : dense.sizes()) shape += fmt::format("{}, ", size);
  if (dense.dim() > 1) shape.resize(shape.size() - 2);
  if (dense.dim() == 1) shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", *type, shape);
  // Magic, version and length take 10 bytes; the whole is padded so that the numbers start at a multiple of 64.
  constexpr size_t kBefore = 10, kAlignment = 64;
  header.append((kAlignment - (kBefore + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());

  AtomicFile file(path, Durable::kNo);
  file.write(kMagic);
  file.write(std::string_view("\x01\x00", 2));
  file.write(&length, sizeof length);
  file.write(header);
  file.write(dense.const_data_ptr(), dense.nbytes());
  file.commit();
}

}  // namespace crisp::tensor
