#include "crisp/tensor/safetensors_header.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "crisp/base/error.h"
#include "crisp/tensor/bytes.h"

namespace crisp::tensor {
namespace {

constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr size_t kMostDimensions = 64;            // as many as torch handles

constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 16> kTypes = {{
    {"F64", torch::kFloat64},
    {"F32", torch::kFloat32},
    {"F16", torch::kFloat16},
    {"BF16", torch::kBFloat16},
    {"F8_E4M3", torch::kFloat8_e4m3fn},
    {"F8_E5M2", torch::kFloat8_e5m2},
    {"C64", torch::kComplexFloat},
    {"I64", torch::kInt64},
    {"I32", torch::kInt32},
    {"I16", torch::kInt16},
    {"I8", torch::kInt8},
    {"U64", torch::kUInt64},
    {"U32", torch::kUInt32},
    {"U16", torch::kUInt16},
    {"U8", torch::kUInt8},
    {"BOOL", torch::kBool},
}};

// The header's JSON, read event by event: only the one shape of document that the format allows gets through,
// so neither nesting nor size of anything else costs memory.
//   {"__metadata__": {text: text}, name: {"dtype": text, "shape": [n...], "data_offsets": [begin, end]}, ...}
class HeaderEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderEvents(SafetensorsHeader& header) : header_(header) {}

  const std::string& problem() const { return problem_; }

  bool null() override { return fail("null"); }
  bool boolean(bool) override { return fail("a boolean"); }
  bool number_integer(number_integer_t) override { return fail("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return fail("a fraction or too large a number"); }
  bool binary(binary_t&) override { return fail("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kNumbers) return fail("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return fail("too large a number");
    std::vector<int64_t>& list = key_ == "shape" ? entry_.shape : offsets_;
    if (list.size() == (key_ == "shape" ? kMostDimensions : 2)) return fail("too long a list");
    list.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (place_ == Place::kMetadata) {
      if (!header_.metadata.emplace(key_, std::move(value)).second) return fail("the same key twice");
      return true;
    }
    if (place_ != Place::kEntry || key_ != "dtype" || seen_dtype_) return fail("text");
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == value; });
    if (found == kTypes.end())
      return stop(fmt::format("tensor '{}' has the unknown dtype '{}'", entry_.name, value.substr(0, 20)));
    entry_.type = found->second;
    seen_dtype_ = true;
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == "__metadata__") {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      place_ = Place::kEntry;
      entry_ = {};
      entry_.name = key_;
      offsets_.clear();
      seen_dtype_ = seen_shape_ = seen_offsets_ = false;
    } else {
      return fail("an object");
    }
    return true;
  }

  bool key(string_t& value) override {
    key_ = std::move(value);
    if (place_ == Place::kTop && !names_.insert(key_).second) {
      return stop(fmt::format("'{}' is there twice", key_.substr(0, 200)));
    }
    if (place_ == Place::kEntry && key_ != "dtype" && key_ != "shape" && key_ != "data_offsets") {
      return stop(fmt::format("tensor '{}' has the unknown key '{}'", entry_.name, key_.substr(0, 200)));
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kEntry) {
      if (!seen_dtype_ || !seen_shape_ || offsets_.size() != 2) {
        return stop(fmt::format("tensor '{}' lacks its dtype, shape or data_offsets", entry_.name));
      }
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
      header_.entries.push_back(std::move(entry_));
    }
    place_ = place_ == Place::kTop ? Place::kStart : Place::kTop;
    return true;
  }

  bool start_array(size_t) override {
    bool& seen = key_ == "shape" ? seen_shape_ : seen_offsets_;
    if (place_ != Place::kEntry || key_ == "dtype" || seen) return fail("a list");
    seen = true;
    place_ = Place::kNumbers;
    return true;
  }

  bool end_array() override {
    place_ = Place::kEntry;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return stop(fmt::format("not valid JSON at byte {}", position));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kEntry, kNumbers };

  bool stop(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool fail(std::string_view found) {
    const std::string where = place_ == Place::kStart || place_ == Place::kTop ? key_ : entry_.name + "' '" + key_;
    return stop(fmt::format("unexpected {} at '{}'", found, where.substr(0, 200)));
  }

  SafetensorsHeader& header_;
  std::string problem_, key_;
  Place place_ = Place::kStart;
  TensorEntry entry_;
  std::vector<int64_t> offsets_;
  bool seen_dtype_ = false, seen_shape_ = false, seen_offsets_ = false;
  std::unordered_set<std::string> names_;
};

// Shapes against offsets, offsets against each other and against the file.
void check_layout(SafetensorsHeader& header, int64_t data_start, int64_t data_size, const std::string& source) {
  auto& entries = header.entries;
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return std::tie(a.begin, a.end) < std::tie(b.begin, b.end); });
  int64_t filled = 0;
  for (TensorEntry& entry : entries) {
    const auto item_size = static_cast<int64_t>(c10::elementSize(entry.type));
    const auto needed = tensor_bytes(entry.shape, item_size);
    if (!needed)
      throw Error("{}: tensor '{}' has the impossible shape {}", source, entry.name, shape_text(entry.shape));
    if (entry.begin > entry.end || entry.end > data_size) {
      throw Error("{}: tensor '{}' lies at bytes {} to {} of {}; the file is truncated or corrupt", source, entry.name,
                  entry.begin, entry.end, data_size);
    }
    if (entry.end - entry.begin != *needed) {
      throw Error("{}: tensor '{}' of shape {} needs {} bytes and has {}", source, entry.name, shape_text(entry.shape),
                  *needed, entry.end - entry.begin);
    }
    if (entry.begin != filled) {
      throw Error("{}: tensor '{}' {}", source, entry.name,
                  entry.begin < filled ? "overlaps another one" : "follows a gap in the file");
    }
    filled = entry.end;
    entry.begin += data_start;
    entry.end += data_start;
  }
  if (filled != data_size) {
    throw Error("{}: {} bytes at the end belong to no tensor; the file is corrupt", source, data_size - filled);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file, const std::string& source) {
  constexpr size_t kLengthBytes = sizeof(uint64_t);
  if (file.empty()) throw Error("{}: the file is empty", source);
  if (file.size() < kLengthBytes) throw Error("{}: too short for a safetensors file ({} bytes)", source, file.size());
  const auto length = load_number<uint64_t>(file.data());
  if (length > kLongestHeader || length > file.size() - kLengthBytes) {
    throw Error("{}: not a safetensors file, or truncated: its header claims {} bytes, the file has {}", source, length,
                file.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  if (!text.starts_with('{')) throw Error("{}: not a safetensors file: its header does not begin with '{{'", source);

  SafetensorsHeader header;
  HeaderEvents events(header);
  if (!nlohmann::json::sax_parse(text, &events)) {
    throw Error("{}: corrupt safetensors header: {}", source, events.problem());
  }
  const size_t data_start = kLengthBytes + length;
  check_layout(header, static_cast<int64_t>(data_start), static_cast<int64_t>(file.size() - data_start), source);
  return header;
}

std::string safetensors_type_name(torch::ScalarType type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& item) { return item.second == type; });
  if (found == kTypes.end()) throw Error("safetensors files cannot hold tensors of type {}", c10::toString(type));
  return std::string(found->first);
}

}  // namespace crisp::tensor
