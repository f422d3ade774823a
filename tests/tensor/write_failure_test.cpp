#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "crisp/base/error.h"
#include "crisp/tensor/model_file.h"
#include "crisp/tensor/npy.h"
#include "crisp/tensor/safetensors.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::mentions;

// Files cannot grow beyond `bytes` while this lives: writing fails as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(FullDisk, LeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  const Path weights = folder.path() / "w.safetensors", array = folder.path() / "a.npy";
  write_safetensors(weights, {{"x", torch::ones({4})}});
  write_npy(array, torch::ones({4}));
  const torch::Tensor large = torch::zeros({100'000});
  std::string messages[3];
  {
    const FileSizeLimit limit(50'000);
    messages[0] = error_of([&] { write_safetensors(weights, {{"x", large}}); });
    messages[1] = error_of([&] { write_npy(array, large); });
    messages[2] = error_of([&] { write_model_file(weights, {{"x", large}}, {.arch = "mit_b0"}); });
  }
  EXPECT_TRUE(mentions(messages[0], weights.string() + ": cannot write: "));
  EXPECT_TRUE(mentions(messages[1], array.string() + ": cannot write: "));
  EXPECT_TRUE(mentions(messages[2], weights.string() + ": cannot write: "));
  EXPECT_EQ(read_safetensors(weights).tensors.at("x").sum().item<float>(), 4.0f);
  EXPECT_EQ(read_npy(array).sum().item<float>(), 4.0f);
  EXPECT_EQ(list_files(folder.path(), {}).size(), 2u);
}

}  // namespace
}  // namespace crisp::tensor
