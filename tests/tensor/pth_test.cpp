#include "crisp/tensor/pth.h"

#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "crisp/tensor/safetensors.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::expected;
using test::mentions;
using test::sample;

TEST(Pth, ReadsWhatTorchReads) {
  test::expect_tensors(read_pth(sample("views.pth")), expected()["views"]);
  test::expect_tensors(read_pth(sample("original.pth")), expected()["original"]);
}

TEST(Pth, ReadsTheFormatBeforeTorch16) {
  test::expect_tensors(read_pth(sample("views_legacy.pth")), expected()["views_legacy"]);
  test::expect_tensors(read_pth(sample("encoder_legacy.pth")), expected()["encoder_legacy"]);
}

TEST(Pth, SharedStoragesAreReadOnce) {
  const StateDict views = read_pth(sample("views.pth"));
  EXPECT_EQ(views.at("whole").storage().data(), views.at("turned").storage().data());
}

TEST(Pth, CodeInsideIsNotExecuted) {
  const StateDict state = read_pth(sample("hostile.pth"));
  EXPECT_EQ(state.size(), 1u);
  EXPECT_EQ(state.at("w").sum().item<float>(), 2.0f);
  EXPECT_TRUE(mentions(error_of([] { read_pth(sample("hostile_alone.pth")); }), "posix.system (not executed)"));
  EXPECT_FALSE(std::filesystem::exists("pickle_was_executed"));
}

TEST(Pth, KnownByItsStart) {
  EXPECT_TRUE(is_pth(sample("views.pth")));
  EXPECT_TRUE(is_pth(sample("views_legacy.pth")));
  EXPECT_FALSE(is_pth(sample("types.safetensors")));
}

TEST(Pth, RefusesOtherFiles) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "x.pth";
  EXPECT_TRUE(mentions(error_of([&] { read_pth(path); }), "No such file"));
  write_atomic(path, "");
  EXPECT_TRUE(mentions(error_of([&] { read_pth(path); }), "x.pth: the file is empty"));
  write_atomic(path, "hello world, this is no weight file");
  EXPECT_TRUE(mentions(error_of([&] { read_pth(path); }), "not a file of torch.save"));
  write_atomic(path, "PK\x03\x04");
  EXPECT_TRUE(mentions(error_of([&] { read_pth(path); }), "corrupt zip"));
  EXPECT_TRUE(mentions(error_of([] { read_pth(sample("compressed.pth")); }), "compressed"));
  EXPECT_TRUE(mentions(error_of([] { read_pth(sample("types.safetensors")); }), "not a file of torch.save"));
}

TEST(Pth, TruncatedFilesAreRefused) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "cut.pth";
  for (const char* name : {"views.pth", "views_legacy.pth"}) {
    const std::string good = read_text(sample(name));
    for (size_t size = 0; size < good.size(); size += 101) {
      test::write_unsynced(path, std::string_view(good).substr(0, size));
      EXPECT_THROW(read_pth(path), Error) << name << " " << size;
    }
  }
}

// The places that matter are few; most bytes are numbers, whose change no reader can see.
TEST(Pth, DamagedFilesGiveErrorsOnly) {
  const auto read = [](const Path& path) {
    for (const auto& [name, tensor] : read_pth(path)) tensor.to(torch::kFloat64).sum().item<double>();
  };
  EXPECT_GT(test::fuzz(sample("views.pth"), 1500, read), 500);
  EXPECT_GT(test::fuzz(sample("views_legacy.pth"), 1500, read), 500);
}

}  // namespace
}  // namespace crisp::tensor
