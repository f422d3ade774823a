#include "crisp/tensor/state_dict.h"

#include <algorithm>
#include <cstring>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/text.h"

namespace crisp::tensor {
namespace {

bool has_prefix(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

// The parts of the message; an empty list adds nothing.
void describe(std::string& message, std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  message += fmt::format("; {} {}: {}", names.size(), what, join_some(names));
}

struct Copy {
  torch::Tensor to, from;
};

// A large file's tensors mostly need no conversion. These are copied as bytes by a few threads that are started
// once; a thousand calls of copy_, each starting and joining threads, take seconds where the cores are busy.
bool is_plain(const Copy& copy) {
  return copy.to.is_cpu() && copy.from.is_cpu() && copy.to.scalar_type() == copy.from.scalar_type() &&
         copy.to.is_contiguous() && copy.from.is_contiguous() && copy.to.nbytes() > 0;
}

void copy_all(std::vector<Copy>& copies) {
  const auto first_other = std::partition(copies.begin(), copies.end(), is_plain);
  parallel_for(first_other - copies.begin(), at::get_num_threads(), [&](int64_t i) {
    const Copy& copy = copies[static_cast<size_t>(i)];
    std::memcpy(copy.to.mutable_data_ptr(), copy.from.const_data_ptr(), copy.to.nbytes());
  });
  for (auto copy = first_other; copy != copies.end(); ++copy) copy->to.copy_(copy->from);
}

}  // namespace

std::string shape_text(torch::IntArrayRef shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

int64_t count_elements(const StateDict& state) {
  int64_t count = 0;
  for (const auto& [name, tensor] : state) count += tensor.numel();
  return count;
}

StateDict state_of(const torch::nn::Module& module) {
  StateDict state;
  for (const auto& item : module.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : module.named_buffers()) state[item.key()] = item.value();
  return state;
}

LoadReport load_into(torch::nn::Module& module, const StateDict& state, const std::string& source,
                     const LoadRules& rules) {
  const StateDict target = state_of(module);
  LoadReport report;
  std::vector<std::string> missing, extra, differing;
  for (const auto& [name, tensor] : target) {
    const auto found = state.find(name);
    if (found == state.end()) {
      if (name.ends_with("num_batches_tracked")) continue;
      (has_prefix(name, rules.may_be_missing) ? report.missing : missing).push_back(name);
    } else if (found->second.sizes() != tensor.sizes()) {
      differing.push_back(fmt::format("{} is {} in the file and {} in the model", name,
                                      shape_text(found->second.sizes()), shape_text(tensor.sizes())));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (target.contains(name)) continue;
    (has_prefix(name, rules.may_be_extra) ? report.extra : extra).push_back(name);
  }
  if (!missing.empty() || !extra.empty() || !differing.empty()) {
    std::string message = "the tensors do not fit the model";
    describe(message, "missing", missing);
    describe(message, "unexpected", extra);
    describe(message, "of another shape", differing);
    throw Error("{}: {}", source, message);
  }

  std::vector<Copy> copies;
  for (const auto& [name, tensor] : target) {
    if (const auto found = state.find(name); found != state.end()) copies.push_back({tensor.detach(), found->second});
  }
  copy_all(copies);
  report.copied = static_cast<int64_t>(copies.size());
  return report;
}

}  // namespace crisp::tensor
