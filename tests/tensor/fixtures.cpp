#include "tests/tensor/fixtures.h"

#include <cmath>
#include <fstream>

#include "crisp/base/error.h"
#include "crisp/base/random.h"
#include "tests/support/support.h"

namespace crisp::tensor::test {
namespace {

std::string python_name(torch::ScalarType type) {
  switch (type) {
    case torch::kFloat64:
      return "float64";
    case torch::kFloat32:
      return "float32";
    case torch::kFloat16:
      return "float16";
    case torch::kBFloat16:
      return "bfloat16";
    case torch::kInt64:
      return "int64";
    case torch::kInt32:
      return "int32";
    case torch::kInt16:
      return "int16";
    case torch::kInt8:
      return "int8";
    case torch::kUInt64:
      return "uint64";
    case torch::kUInt32:
      return "uint32";
    case torch::kUInt16:
      return "uint16";
    case torch::kUInt8:
      return "uint8";
    case torch::kBool:
      return "bool";
    default:
      return "other";
  }
}

// Sums of the same numbers, taken perhaps in another order.
void expect_close(double value, double wanted, const std::string& name) {
  EXPECT_NEAR(value, wanted, 1e-10 * (1.0 + std::abs(wanted))) << name;
}

}  // namespace

Path sample(const std::string& name) { return crisp::test::golden("goldens/tensor/" + name); }

const nlohmann::json& expected() {
  static const nlohmann::json value = nlohmann::json::parse(read_text(sample("expected.json")));
  return value;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& problem) {
    return problem.what();
  }
  ADD_FAILURE() << "an Error was expected";
  return "";
}

testing::AssertionResult mentions(const std::string& message, const std::string& part) {
  if (message.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << message << "' does not mention '" << part << "'";
}

double weighted_sum(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.to(torch::kFloat64).flatten();
  return (flat * torch::arange(1, flat.numel() + 1, torch::kFloat64)).sum().item<double>();
}

void expect_tensors(const StateDict& tensors, const nlohmann::json& summaries) {
  EXPECT_EQ(tensors.size(), summaries.size());
  for (const auto& [name, summary] : summaries.items()) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) {
      ADD_FAILURE() << "missing: " << name;
      continue;
    }
    const torch::Tensor& tensor = found->second;
    EXPECT_EQ(tensor.sizes().vec(), summary[0].get<std::vector<int64_t>>()) << name;
    EXPECT_EQ(python_name(tensor.scalar_type()), summary[1].get<std::string>()) << name;
    expect_close(tensor.to(torch::kFloat64).sum().item<double>(), summary[2].get<double>(), name);
    expect_close(weighted_sum(tensor), summary[3].get<double>(), name);
  }
}

void write_unsynced(const Path& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
}

int fuzz(const Path& file, int rounds, const std::function<void(const Path&)>& read) {
  const std::string good = read_text(file);
  const TemporaryFolder folder;
  const Path damaged = folder.path() / file.filename();
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    Rng rng(2024, static_cast<uint64_t>(round));
    std::string bytes = good;
    const auto size = static_cast<int64_t>(bytes.size());
    if (round % 8 == 0) {
      bytes.resize(static_cast<size_t>(rng.below(size)));
    } else {
      const int64_t changes = 1 + rng.below(4), near = std::min<int64_t>(size, 1500);
      for (int64_t i = 0; i < changes; ++i) {
        const int64_t where = rng.below(3);
        const int64_t at = where == 0 ? rng.below(near) : where == 1 ? size - 1 - rng.below(near) : rng.below(size);
        bytes[static_cast<size_t>(at)] = static_cast<char>(rng.chance(0.3) ? 0xFF : rng.below(256));
      }
    }
    write_unsynced(damaged, bytes);
    try {
      read(damaged);
    } catch (const Error&) {
      ++refused;
    }
  }
  return refused;
}

}  // namespace crisp::tensor::test
