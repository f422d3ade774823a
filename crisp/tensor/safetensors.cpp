#include "crisp/tensor/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/tensor/file_view.h"
#include "crisp/tensor/json_text.h"

namespace crisp::tensor {

NamedTensors read_safetensors(const Path& path) {
  const FileView file(path);
  SafetensorsHeader header = parse_safetensors_header(file.bytes(), path.string());
  NamedTensors result;
  result.metadata = std::move(header.metadata);
  for (TensorEntry& entry : header.entries) {
    result.tensors[std::move(entry.name)] = file.tensor(entry.type, entry.shape, entry.begin);
  }
  return result;
}

SafetensorsHeader read_safetensors_header(const Path& path) {
  const MappedFile file(path);
  return parse_safetensors_header(file.bytes(), path.string());
}

void write_safetensors(const Path& path, const StateDict& tensors, const Metadata& metadata) {
  // Wide types first: with a header padded to 8 bytes every tensor is then aligned for its type.
  std::vector<StateDict::const_iterator> order;
  for (auto item = tensors.begin(); item != tensors.end(); ++item) order.push_back(item);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.element_size() > b->second.element_size(); });

  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0;
  for (const auto& item : order) {
    const auto& [name, tensor] = *item;
    if (name == "__metadata__") throw Error("{}: a tensor cannot be named '{}'", path.string(), name);
    header[name] = {{"dtype", safetensors_type_name(tensor.scalar_type())},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, offset + tensor.nbytes()}}};
    offset += tensor.nbytes();
  }
  std::string text = dump_json(header, path.string());
  text.append((8 - text.size() % 8) % 8, ' ');

  AtomicFile file(path);
  const uint64_t length = text.size();
  file.write(&length, sizeof length);
  file.write(text);
  for (const auto& item : order) {
    const torch::Tensor dense = item->second.detach().to(torch::kCPU).contiguous();
    file.write(dense.const_data_ptr(), dense.nbytes());
  }
  file.commit();
}

}  // namespace crisp::tensor
