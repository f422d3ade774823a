#include "crisp/seed/tag_file.h"

#include "crisp/base/error.h"
#include "crisp/tensor/npy.h"

namespace crisp::seed {

std::map<std::string, std::vector<int>> read_tag_file(const Path& path) {
  const tensor::pickle::Document document = tensor::read_npy_object(path);
  const auto* entries = document.root().dict();
  if (entries == nullptr) {
    throw Error("{}: not a dict from photo to tags, but {}", path.string(), document.root().describe());
  }
  std::map<std::string, std::vector<int>> tags;
  for (const auto& [key, value] : *entries) {
    const std::string* id = key->text();
    const torch::Tensor* flags = value->tensor();
    if (id == nullptr || flags == nullptr || flags->dim() != 1) {
      throw Error("{}: an entry is not a name with a vector of numbers ({}: {})", path.string(), key->describe(),
                  value->describe());
    }
    const torch::Tensor numbers = flags->to(torch::kFloat);
    const float* flag = numbers.const_data_ptr<float>();
    std::vector<int>& own = tags[*id];
    for (int64_t k = 0; k < numbers.numel(); ++k) {
      if (flag[k] > 0.5f) own.push_back(static_cast<int>(k) + 1);
    }
  }
  return tags;
}

}  // namespace crisp::seed
