#include "crisp/tensor/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "crisp/base/error.h"
#include "tests/support/support.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::expected;
using test::mentions;
using test::sample;

class Safetensors : public testing::Test {
 protected:
  // A file of this header and as many zero bytes; `length` overrides the true length of the header.
  Path make(const std::string& header, size_t data_bytes, std::optional<uint64_t> length = {}) {
    const uint64_t stated = length.value_or(header.size());
    std::string bytes(sizeof stated, '\0');
    std::memcpy(bytes.data(), &stated, sizeof stated);
    bytes += header + std::string(data_bytes, '\0');
    const Path path = folder_.path() / "made.safetensors";
    test::write_unsynced(path, bytes);
    return path;
  }

  // The message for such a file, which must also name it.
  std::string refusal(const std::string& header, size_t data_bytes, std::optional<uint64_t> length = {}) {
    const Path path = make(header, data_bytes, length);
    const std::string message = error_of([&] { read_safetensors(path); });
    EXPECT_TRUE(message.starts_with(path.string())) << message;
    EXPECT_LT(message.size(), 600u);
    return message;
  }

  TemporaryFolder folder_;
};

TEST_F(Safetensors, ReadsEveryTypeAsThePythonPackageDoes) {
  const NamedTensors read = read_safetensors(sample("types.safetensors"));
  test::expect_tensors(read.tensors, expected()["types"]);
  EXPECT_EQ(read.metadata.at("note"), "ünïcode");
  EXPECT_EQ(read.tensors.at("i64")[0].item<int64_t>(), int64_t{1} << 40);
}

TEST_F(Safetensors, HeaderAloneGivesNamesTypesAndShapes) {
  const SafetensorsHeader header = read_safetensors_header(sample("types.safetensors"));
  ASSERT_EQ(header.entries.size(), expected()["types"].size());
  for (const TensorEntry& entry : header.entries) {
    EXPECT_EQ(entry.shape, expected()["types"][entry.name][0].get<std::vector<int64_t>>()) << entry.name;
  }
}

TEST_F(Safetensors, WritesWhatItReads) {
  const NamedTensors read = read_safetensors(sample("types.safetensors"));
  const Path path = folder_.path() / "dir with space ü.safetensors";
  write_safetensors(path, read.tensors, {{"a", "b \"quoted\""}});
  const NamedTensors again = read_safetensors(path);
  test::expect_tensors(again.tensors, expected()["types"]);
  EXPECT_EQ(again.metadata, (Metadata{{"a", "b \"quoted\""}}));
  // Zero-copy needs every tensor aligned for its type.
  for (const TensorEntry& entry : read_safetensors_header(path).entries) {
    EXPECT_EQ(entry.begin % static_cast<int64_t>(c10::elementSize(entry.type)), 0) << entry.name;
  }
}

TEST_F(Safetensors, WritesStridedTensorsAndNone) {
  const torch::Tensor grid = torch::arange(6, torch::kFloat32).view({2, 3});
  const Path path = folder_.path() / "t.safetensors";
  write_safetensors(path, {{"turned", grid.t()}});
  EXPECT_TRUE(torch::equal(read_safetensors(path).tensors.at("turned"), grid.t()));
  write_safetensors(path, {});
  EXPECT_TRUE(read_safetensors(path).tensors.empty());
}

TEST_F(Safetensors, TensorsOutliveTheReadAndMayBeChanged) {
  const Path path = folder_.path() / "t.safetensors";
  write_safetensors(path, {{"x", torch::ones({1000})}});
  torch::Tensor x = read_safetensors(path).tensors.at("x");
  x.add_(1);  // a private page, not the file
  EXPECT_EQ(x.sum().item<double>(), 2000.0);
  EXPECT_EQ(read_safetensors(path).tensors.at("x").sum().item<double>(), 1000.0);
}

TEST_F(Safetensors, AFileReplacedWhileInUseKeepsItsOldTensors) {
  const Path path = folder_.path() / "t.safetensors";
  write_safetensors(path, {{"x", torch::ones({100000})}});
  const torch::Tensor old = read_safetensors(path).tensors.at("x");
  write_safetensors(path, {{"x", torch::zeros({10})}});
  EXPECT_EQ(old.sum().item<double>(), 100000.0);
}

TEST_F(Safetensors, UnalignedTensorsAreCopied) {
  const Path path = make(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                         R"("b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]}})",
                         9);
  EXPECT_EQ(read_safetensors(path).tensors.at("b").sum().item<float>(), 0.0f);
}

TEST_F(Safetensors, BooleansOtherThanOneCountAsTrue) {
  std::string header = R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})";
  const Path path = make(header + std::string("\x02\x00\xFF", 3), 0, header.size());
  EXPECT_EQ(read_safetensors(path).tensors.at("a").sum().item<int64_t>(), 2);
}

TEST_F(Safetensors, RefusesFilesThatAreNotSafetensors) {
  const Path path = folder_.path() / "x.safetensors";
  EXPECT_TRUE(mentions(error_of([&] { read_safetensors(path); }), "No such file"));
  EXPECT_TRUE(mentions(error_of([&] { read_safetensors(folder_.path()); }), "is a folder"));
  write_atomic(path, "");
  EXPECT_TRUE(mentions(error_of([&] { read_safetensors(path); }), "is empty"));
  write_atomic(path, "abc");
  EXPECT_TRUE(mentions(error_of([&] { read_safetensors(path); }), "too short"));
  write_atomic(path, "<!DOCTYPE html><html>not found</html>");
  EXPECT_TRUE(mentions(error_of([&] { read_safetensors(path); }), "not a safetensors file"));
}

TEST_F(Safetensors, RefusesHostileLengths) {
  EXPECT_TRUE(mentions(refusal("{}", 0, ~uint64_t{0}), "claims 18446744073709551615 bytes"));
  EXPECT_TRUE(mentions(refusal("{}", 0, 3), "claims 3 bytes"));
  EXPECT_TRUE(mentions(refusal("{}", 0, 0), "does not begin"));
}

TEST_F(Safetensors, RefusesBadJson) {
  EXPECT_TRUE(mentions(refusal("{\"a\":", 0), "not valid JSON"));
  EXPECT_TRUE(mentions(refusal("{} x", 0), "not valid JSON"));
  EXPECT_TRUE(mentions(refusal("{\"a\":1}", 0), "unexpected a number"));
  EXPECT_TRUE(mentions(refusal("{\"a\":null}", 0), "unexpected null"));
  EXPECT_TRUE(mentions(refusal("{\"a\xFF\":{}}", 0), "not valid JSON"));
  EXPECT_TRUE(mentions(refusal(R"({"__metadata__":{"a":1}})", 0), "unexpected a number"));
  EXPECT_TRUE(mentions(refusal(R"({"__metadata__":{"a":{"b":"c"}}})", 0), "unexpected an object"));
}

TEST_F(Safetensors, DeepNestingCostsNeitherStackNorMemory) {
  std::string deep = "{\"a\":";
  deep.append(20'000'000, '[');
  EXPECT_TRUE(mentions(refusal(deep, 0), "unexpected a list"));
  EXPECT_TRUE(mentions(refusal(R"({"a":{"dtype":"F32","shape":)" + std::string(1'000'000, '['), 0), "unexpected"));
}

TEST_F(Safetensors, RefusesBadEntries) {
  const auto entry = [](const std::string& type, const std::string& shape, const std::string& offsets) {
    return fmt::format(R"({{"w":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", type, shape, offsets);
  };
  EXPECT_NO_THROW(read_safetensors(make(entry("F32", "[2]", "[0,8]"), 8)));
  EXPECT_TRUE(mentions(refusal(entry("F31", "[2]", "[0,8]"), 8), "unknown dtype 'F31'"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[0,8]"), 7), "truncated"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[0,8]"), 9), "1 bytes at the end"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[3]", "[0,8]"), 8), "needs 12 bytes and has 8"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[8,0]"), 8), "8 to 0"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[4,12]"), 12), "gap"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[0]"), 8), "lacks"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2]", "[0,8,8]"), 8), "too long a list"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[-2]", "[0,8]"), 8), "negative"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[2.0]", "[0,8]"), 8), "fraction"));
  EXPECT_TRUE(mentions(refusal(entry("F32", "[\"2\"]", "[0,8]"), 8), "unexpected text"));
  EXPECT_TRUE(mentions(refusal(R"({"w":{"dtype":"F32","shape":[2]}})", 8), "lacks"));
  EXPECT_TRUE(mentions(refusal(R"({"w":{"dtype":"F32","shape":[2],"extra":[0,8]}})", 8), "unknown key"));
}

TEST_F(Safetensors, RefusesShapesThatOverflow) {
  const auto entry = [](const std::string& shape) {
    return R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,0]}})";
  };
  EXPECT_TRUE(mentions(refusal(entry("[4611686018427387904,4]"), 0), "impossible shape"));  // 2^64 elements wrap to 0
  EXPECT_TRUE(mentions(refusal(entry("[4294967296,4294967296]"), 0), "impossible shape"));
  EXPECT_TRUE(mentions(refusal(entry("[0,4611686018427387904,8]"), 0), "impossible shape"));
  EXPECT_TRUE(mentions(refusal(entry("[18446744073709551615]"), 0), "too large"));
  EXPECT_TRUE(mentions(refusal(entry("[1" + std::string(100, '0') + "]"), 0), "too large"));
  std::string many = "[1";
  for (int i = 0; i < 100; ++i) many += ",1";
  EXPECT_TRUE(mentions(refusal(entry(many + "]"), 0), "too long a list"));
}

TEST_F(Safetensors, RefusesOverlapsAndDuplicates) {
  const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
  const std::string b = R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]})";
  EXPECT_TRUE(mentions(refusal("{" + a + "," + b + "}", 12), "'b' overlaps"));
  EXPECT_TRUE(mentions(refusal("{" + a + "," + a + "}", 8), "'a' is there twice"));
}

TEST_F(Safetensors, EveryTruncationIsRefused) {
  const std::string good = read_text(sample("types.safetensors"));
  const Path path = folder_.path() / "cut.safetensors";
  for (size_t size = 0; size < good.size(); size += 37) {
    test::write_unsynced(path, std::string_view(good).substr(0, size));
    EXPECT_THROW(read_safetensors(path), Error) << size;
  }
}

TEST_F(Safetensors, DamagedFilesGiveErrorsOnly) {
  const int refused = test::fuzz(sample("types.safetensors"), 1500, [](const Path& path) {
    for (const auto& [name, tensor] : read_safetensors(path).tensors) tensor.to(torch::kFloat64).sum().item<double>();
  });
  EXPECT_GT(refused, 700);
}

TEST_F(Safetensors, WriteErrorsNameTheFileAndLeaveNothing) {
  const Path nowhere = folder_.path() / "absent" / "t.safetensors";
  EXPECT_TRUE(mentions(error_of([&] { write_safetensors(nowhere, {}); }), nowhere.string()));
  const Path path = folder_.path() / "t.safetensors";
  EXPECT_TRUE(mentions(error_of([&] { write_safetensors(path, {{"x", torch::ones(1)}}, {{"k", "\xFF"}}); }), "JSON"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Safetensors, RealWeightsHaveTheirKnownSize) {
  const NamedTensors read = read_safetensors(crisp::test::project_folder() / "weights" / "mit_b0.safetensors");
  EXPECT_EQ(read.tensors.size(), 194u);
  EXPECT_EQ(read.tensors.at("classifier.weight").sizes(), (std::vector<int64_t>{1000, 256}));
  EXPECT_EQ(count_elements(read.tensors), 3'319'392 + 257'000);
}

}  // namespace
}  // namespace crisp::tensor
