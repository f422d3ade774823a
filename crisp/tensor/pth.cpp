#include "crisp/tensor/pth.h"

#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/tensor/bytes.h"
#include "crisp/tensor/file_view.h"
#include "crisp/tensor/pickle.h"
#include "crisp/tensor/zip.h"

namespace crisp::tensor {
namespace {

constexpr std::string_view kZipStart = "PK\x03\x04";
// torch before 1.6 began its files with this number, as a pickle: 0x1950a86a20f9469cfc6c.
constexpr std::string_view kLegacyStart = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<torch::ScalarType> storage_type(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, torch::ScalarType>, 10> kTypes = {{
      {"torch.FloatStorage", torch::kFloat32},
      {"torch.HalfStorage", torch::kFloat16},
      {"torch.BFloat16Storage", torch::kBFloat16},
      {"torch.DoubleStorage", torch::kFloat64},
      {"torch.LongStorage", torch::kInt64},
      {"torch.IntStorage", torch::kInt32},
      {"torch.ShortStorage", torch::kInt16},
      {"torch.CharStorage", torch::kInt8},
      {"torch.ByteStorage", torch::kUInt8},
      {"torch.BoolStorage", torch::kBool},
  }};
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  return std::nullopt;
}

// ("storage", class, key, location, count[, view]), as torch writes the reference to a storage.
struct StorageId {
  torch::ScalarType type;
  std::string key;
  int64_t count;
};

// Nothing for a storage of a type that is not a plain number's.
std::optional<StorageId> read_storage_id(const pickle::Value& id, const std::string& source) {
  const pickle::List* parts = id.items();
  const bool good = parts != nullptr && parts->size() >= 5 && (*parts)[0]->text() != nullptr &&
                    *(*parts)[0]->text() == "storage" && (*parts)[1]->opaque() != nullptr &&
                    (*parts)[2]->text() != nullptr && (*parts)[4]->integer().value_or(-1) >= 0;
  if (!good) throw Error("{}: corrupt file: a bad reference to a storage", source);
  if (parts->size() > 5 && !(*parts)[5]->is_none()) {
    throw Error("{}: written by a very old torch (views of storages); load and save it again with torch", source);
  }
  const auto type = storage_type((*parts)[1]->opaque()->what);
  if (!type) return std::nullopt;
  return StorageId{*type, *(*parts)[2]->text(), *(*parts)[4]->integer()};
}

// A flat tensor of the storage's numbers, `begin` and `size` being its bytes in the file.
torch::Tensor storage_tensor(const FileView& file, const StorageId& id, int64_t begin, int64_t size,
                             const std::string& source) {
  const std::array<int64_t, 1> shape = {id.count};
  const auto needed = tensor_bytes(shape, static_cast<int64_t>(c10::elementSize(id.type)));
  if (!needed || *needed > size) {
    throw Error("{}: storage '{}' needs {} elements and has {} bytes; the file is truncated or corrupt", source, id.key,
                id.count, size);
  }
  return file.tensor(id.type, shape, begin);
}

// torch.save since 1.6: a zip of NAME/data.pkl and NAME/data/KEY for each storage.
pickle::Document read_zip(const FileView& file, const std::string& source) {
  const auto entries = list_zip(file.bytes(), source);
  constexpr std::string_view kPickle = "/data.pkl";
  const auto main =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first.ends_with(kPickle); });
  if (main == entries.end()) throw Error("{}: a zip archive, but not one of torch.save (no data.pkl)", source);
  const std::string folder = main->first.substr(0, main->first.size() - kPickle.size());
  const auto bytes_of = [&](const ZipEntry& entry) {
    return file.bytes().subspan(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.size));
  };
  if (const auto order = entries.find(folder + "/byteorder");
      order != entries.end() && as_text(bytes_of(order->second)) != "little") {
    throw Error("{}: written on a big-endian machine; load and save it again on a little-endian one", source);
  }
  std::map<std::string, torch::Tensor> loaded;  // tensors of one storage share its memory
  const auto load = [&](const pickle::Value& value) -> std::optional<torch::Tensor> {
    const auto id = read_storage_id(value, source);
    if (!id) return std::nullopt;
    const auto found = loaded.find(id->key);
    if (found != loaded.end() && found->second.scalar_type() == id->type && found->second.numel() == id->count) {
      return found->second;
    }
    const auto entry = entries.find(folder + "/data/" + id->key);
    if (entry == entries.end()) throw Error("{}: storage '{}' is missing in the file", source, id->key);
    return loaded[id->key] = storage_tensor(file, *id, entry->second.begin, entry->second.size, source);
  };
  return pickle::parse(bytes_of(main->second), source, load);
}

// Before 1.6: pickles in a row (magic, version, system, contents, keys of storages), then for each key a count
// and the numbers. The contents refer to storages that follow, so they are read twice: to learn the storages'
// types, and again when their places are known.
pickle::Document read_legacy(const FileView& file, const std::string& source) {
  const auto bytes = file.bytes();
  size_t at = 0;
  const auto next = [&](const pickle::StorageLoader& load) {
    pickle::Document document = pickle::parse(bytes.subspan(at), source, load);
    at += document.size();
    return document;
  };
  for (int i = 0; i < 2; ++i) next({});
  const pickle::Document system = next({});
  const pickle::Value* order = system.root().find("little_endian");
  if (order != nullptr && !order->boolean().value_or(true)) {
    throw Error("{}: written on a big-endian machine; load and save it again on a little-endian one", source);
  }
  const size_t contents = at;
  std::map<std::string, StorageId> ids;
  next([&](const pickle::Value& value) -> std::optional<torch::Tensor> {
    if (const auto id = read_storage_id(value, source)) ids.emplace(id->key, *id);
    return std::nullopt;
  });
  const pickle::Document keys = next({});
  if (keys.root().items() == nullptr) throw Error("{}: corrupt file: the list of storages is missing", source);

  std::map<std::string, torch::Tensor> storages;
  for (const pickle::Value* key : *keys.root().items()) {
    const auto id = key->text() != nullptr ? ids.find(*key->text()) : ids.end();
    if (id == ids.end()) throw Error("{}: corrupt file: a storage of unknown type", source);
    if (bytes.size() - at < sizeof(int64_t)) throw Error("{}: the file is truncated", source);
    const auto count = load_number<int64_t>(bytes.data() + at);
    at += sizeof(int64_t);
    if (count != id->second.count) throw Error("{}: corrupt file: storage '{}' has another size", source, id->first);
    storages[id->first] =
        storage_tensor(file, id->second, static_cast<int64_t>(at), static_cast<int64_t>(bytes.size() - at), source);
    at += storages[id->first].nbytes();
  }
  return pickle::parse(bytes.subspan(contents), source,
                       [&](const pickle::Value& value) -> std::optional<torch::Tensor> {
                         const auto id = read_storage_id(value, source);
                         if (!id) return std::nullopt;
                         const auto found = storages.find(id->key);
                         if (found == storages.end() || found->second.scalar_type() != id->type) {
                           throw Error("{}: storage '{}' is missing in the file", source, id->key);
                         }
                         return found->second;
                       });
}

// The dict that holds the tensors: the root, or what training scripts wrap it in.
const pickle::Value& unwrap(const pickle::Value& root) {
  const pickle::Value* value = &root;
  constexpr int kMostWrappers = 4;
  for (int i = 0; i < kMostWrappers; ++i) {
    const pickle::Value* inner = nullptr;
    for (const std::string_view key : {"state_dict", "model_state_dict", "model"}) {
      const pickle::Value* held = value->find(key);
      if (inner == nullptr && held != nullptr && held->dict() != nullptr) inner = held;
    }
    if (inner == nullptr) break;
    value = inner;
  }
  return *value;
}

[[noreturn]] void fail_without_tensors(const pickle::Value& root, const std::string& source) {
  if (root.dict() == nullptr) throw Error("{}: holds {}, a dict of tensors was expected", source, root.describe());
  std::vector<std::string> keys;
  for (const auto& [key, value] : *root.dict()) {
    keys.push_back(key->text() != nullptr ? *key->text() + ": " + value->describe() : key->describe());
  }
  throw Error("{}: no tensors found in it; it holds {}", source, keys.empty() ? "an empty dict" : join_some(keys));
}

}  // namespace

std::optional<torch::Tensor> read_storage(std::span<const std::byte> bytes, const std::string& source) {
  // A storage inside a storage is nobody's data but a trap for the reader's stack.
  const std::string_view text = as_text(bytes);
  if (!text.starts_with(kLegacyStart) || text.find("_load_from_bytes") != text.npos) return std::nullopt;
  size_t at = 0;
  std::optional<StorageId> id;
  for (int i = 0; i < 5; ++i) {  // magic, version, system, the storage, its key
    const pickle::Document part = pickle::parse(bytes.subspan(at), source, [&](const pickle::Value& value) {
      id = read_storage_id(value, source);
      return std::optional<torch::Tensor>();
    });
    at += part.size();
  }
  if (!id) return std::nullopt;
  const std::array<int64_t, 1> shape = {id->count};
  const auto needed = tensor_bytes(shape, static_cast<int64_t>(c10::elementSize(id->type)));
  if (!needed || bytes.size() - at < sizeof(int64_t) ||
      static_cast<size_t>(*needed) > bytes.size() - at - sizeof(int64_t)) {
    throw Error("{}: a tensor in it is truncated", source);
  }
  // A byte other than 0 and 1 would be no boolean.
  torch::Tensor storage = torch::empty(shape, id->type == torch::kBool ? torch::kUInt8 : id->type);
  if (*needed > 0) {
    std::memcpy(storage.mutable_data_ptr(), bytes.data() + at + sizeof(int64_t), static_cast<size_t>(*needed));
  }
  return storage.to(id->type);
}

bool is_pth(const Path& path) {
  const MappedFile file(path);
  const std::string_view text = as_text(file.bytes());
  return text.starts_with(kZipStart) || text.starts_with(kLegacyStart);
}

StateDict read_pth(const Path& path) {
  const std::string source = path.string();
  const FileView file(path);
  const std::string_view text = as_text(file.bytes());
  if (text.empty()) throw Error("{}: the file is empty", source);
  if (!text.starts_with(kZipStart) && !text.starts_with(kLegacyStart)) {
    throw Error("{}: not a file of torch.save, or damaged at its start", source);
  }
  const pickle::Document document = text.starts_with(kZipStart) ? read_zip(file, source) : read_legacy(file, source);
  const pickle::Value& root = unwrap(document.root());
  StateDict state;
  if (root.dict() != nullptr) {
    for (const auto& [key, value] : *root.dict()) {
      if (key->text() == nullptr || value->tensor() == nullptr) continue;
      constexpr std::string_view kParallel = "module.";
      std::string name = *key->text();
      if (name.starts_with(kParallel)) name.erase(0, kParallel.size());
      state[std::move(name)] = *value->tensor();
    }
  }
  if (state.empty()) fail_without_tensors(root, source);
  return state;
}

}  // namespace crisp::tensor
