#include "crisp/tensor/npy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

#include "crisp/base/error.h"
#include "crisp/tensor/state_dict.h"
#include "tests/support/support.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor {
namespace {

using test::error_of;
using test::expected;
using test::mentions;
using test::sample;
using namespace std::string_literals;

// A dict's value under an integer key.
const pickle::Value* find(const pickle::Value& dict, int64_t key) {
  for (const auto& [name, value] : *dict.dict()) {
    if (name->integer() == key) return value;
  }
  return nullptr;
}

TEST(Npy, ReadsEveryTypeOrderAndVersion) {
  StateDict read;
  const auto summaries = expected();
  for (const auto& [name, summary] : summaries["npy"].items()) read[name] = read_npy(sample(name + ".npy"));
  test::expect_tensors(read, expected()["npy"]);
  EXPECT_TRUE(read.at("fortran").is_contiguous());
}

TEST(Npy, WritesWhatNumpyWrites) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "a.npy";
  for (const char* name : {"le_f2", "le_f4", "le_f8", "le_i1", "le_i2", "le_i4", "le_i8", "le_u1", "le_u2", "le_u8",
                           "le_b1", "scalar", "empty"}) {
    write_npy(path, read_npy(sample(name + ".npy"s)));
    EXPECT_EQ(read_text(path), read_text(sample(name + ".npy"s))) << name;
  }
  write_npy(path, torch::arange(5, torch::kFloat32));
  EXPECT_TRUE(mentions(read_text(path), "'shape': (5,), }"));
  EXPECT_TRUE(torch::equal(read_npy(path), torch::arange(5, torch::kFloat32)));
}

TEST(Npy, WritesStridedAndBfloat16) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "a.npy";
  const torch::Tensor turned = torch::arange(6, torch::kFloat32).view({2, 3}).t();
  write_npy(path, turned);
  EXPECT_TRUE(torch::equal(read_npy(path), turned));
  write_npy(path, torch::full({2}, 1.5, torch::kBFloat16));
  EXPECT_EQ(read_npy(path).scalar_type(), torch::kFloat32);
  EXPECT_EQ(read_npy(path).sum().item<float>(), 3.0f);
  EXPECT_TRUE(mentions(error_of([&] { write_npy(path, torch::zeros({1}, torch::kComplexFloat)); }), "cannot hold"));
}

TEST(Npy, ReadsPickledDictsOfEveryProtocol) {
  const auto summaries = expected();
  for (const char* name :
       {"cams.npy", "cams_protocol2.npy", "cams_protocol3.npy", "cams_protocol4.npy", "cams_protocol5.npy"}) {
    SCOPED_TRACE(name);
    const pickle::Document document = read_npy_object(sample(name));
    const pickle::Value& cams = document.root();
    ASSERT_NE(cams.dict(), nullptr);
    EXPECT_EQ(cams.dict()->size(), 13u);
    for (const auto& [key, sums] : summaries["cams"].items()) {
      const pickle::Value* value = std::isdigit(key[0]) ? find(cams, std::stoll(key)) : cams.find(key);
      ASSERT_TRUE(value != nullptr && value->tensor() != nullptr) << key;
      EXPECT_DOUBLE_EQ(test::weighted_sum(*value->tensor()), sums[1].get<double>()) << key;
    }
    EXPECT_EQ(find(cams, 3)->tensor()->sizes(), (std::vector<int64_t>{4, 5}));
    EXPECT_EQ(cams.find("score")->number(), 0.5);
    EXPECT_EQ(cams.find("count")->integer(), 7);
    EXPECT_EQ(cams.find("flag")->boolean(), true);
    EXPECT_EQ(*cams.find("label")->text(), "ünïcode");
    EXPECT_EQ(cams.find("negative")->integer(), -(int64_t{1} << 40));
    EXPECT_NE(cams.find("large")->opaque(), nullptr);
    EXPECT_NE(cams.find("words")->opaque(), nullptr);
    const pickle::List& list = *cams.find("list")->items();
    ASSERT_EQ(list.size(), 5u);
    EXPECT_EQ(list[1]->number(), 2.5);
    EXPECT_TRUE(list[3]->is_none());
    EXPECT_EQ(*(*list[4]->items())[1]->bytes(), "raw");
  }
}

TEST(Npy, ArraysOfObjectsAreLists) {
  const pickle::Document document = read_npy_object(sample("objects.npy"));
  ASSERT_EQ(document.root().items()->size(), 3u);
  EXPECT_EQ(*(*document.root().items())[1]->text(), "two");
  EXPECT_EQ(read_npy_object(sample("le_f4.npy")).root().tensor()->sizes(), (std::vector<int64_t>{2, 3}));
}

TEST(Npy, CodeInsideIsNotExecuted) {
  const pickle::Document document = read_npy_object(sample("hostile.npy"));
  EXPECT_EQ(document.root().find("bad")->describe(), "posix.system (not executed)");
  EXPECT_EQ(document.root().find("good")->integer(), 1);
  EXPECT_FALSE(std::filesystem::exists("pickle_was_executed"));
}

TEST(Npy, RefusesBadHeaders) {
  const TemporaryFolder folder;
  const Path path = folder.path() / "bad.npy";
  const auto refusal = [&](const std::string& header, size_t data_bytes = 24) {
    std::string bytes = "\x93NUMPY\x01\x00"s;
    bytes += static_cast<char>(header.size() & 0xFF);
    bytes += static_cast<char>(header.size() >> 8);
    write_atomic(path, bytes + header + std::string(data_bytes, '\0'));
    const std::string message = error_of([&] { read_npy(path); });
    EXPECT_TRUE(message.starts_with(path.string())) << message;
    return message;
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  EXPECT_TRUE(mentions(refusal(good, 23), "needs 24 bytes and has 23"));
  EXPECT_TRUE(mentions(refusal(good, 25), "has 25"));
  EXPECT_TRUE(mentions(refusal(good + "x"), "corrupt"));
  EXPECT_TRUE(mentions(refusal(""), "corrupt"));
  EXPECT_TRUE(mentions(refusal("{'descr': '<f4', 'shape': (2, 3)}"), "corrupt"));
  EXPECT_TRUE(mentions(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}"), "corrupt"));
  EXPECT_TRUE(
      mentions(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"), "corrupt"));
  EXPECT_TRUE(mentions(refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", 0),
                       "impossible"));
  EXPECT_TRUE(mentions(refusal("{'descr': '<U7', 'fortran_order': False, 'shape': (1,)}"), "'<U7'"));
  EXPECT_TRUE(mentions(refusal("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "records"));
  EXPECT_TRUE(mentions(refusal("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "Python objects"));
  write_atomic(path, "");
  EXPECT_TRUE(mentions(error_of([&] { read_npy(path); }), "is empty"));
  write_atomic(path, "not numpy at all");
  EXPECT_TRUE(mentions(error_of([&] { read_npy(path); }), "not a .npy file"));
  write_atomic(path, "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{}"s);
  EXPECT_TRUE(mentions(error_of([&] { read_npy(path); }), "truncated"));
  write_atomic(path, "\x93NUMPY\x09\x00\x00\x00\x00\x00"s);
  EXPECT_TRUE(mentions(error_of([&] { read_npy(path); }), "version 9"));
}

TEST(Npy, DamagedFilesGiveErrorsOnly) {
  EXPECT_GT(test::fuzz(sample("fortran_big.npy"), 1000, [](const Path& path) { read_npy(path); }), 300);
  for (const char* name : {"cams_protocol2.npy", "cams.npy", "cams_protocol5.npy"}) {
    EXPECT_GT(test::fuzz(sample(name), 1000, [](const Path& path) { read_npy_object(path); }), 300) << name;
  }
}

TEST(Npy, RealTagsOfVoc) {
  CRISP_NEEDS_SHARED();
  const auto start = std::chrono::steady_clock::now();
  const pickle::Document document =
      read_npy_object(crisp::test::shared_folder() / "data" / "voc12_cls_labels_onehot.npy");
  const auto& tags = *document.root().dict();
  ASSERT_EQ(tags.size(), 12031u);
  double total = 0;
  for (const auto& [id, value] : tags) {
    ASSERT_NE(id->text(), nullptr);
    ASSERT_NE(value->tensor(), nullptr) << *id->text();
    ASSERT_EQ(value->tensor()->numel(), 20);
    const auto* numbers = value->tensor()->const_data_ptr<float>();
    total += std::accumulate(numbers, numbers + 20, 0.0);
  }
  EXPECT_EQ(total, 18605.0);  // as NumPy counts
  const torch::Tensor& first = *document.root().find("2007_000032")->tensor();
  EXPECT_EQ(first[0].item<float>() + first[14].item<float>(), first.sum().item<float>());
  EXPECT_EQ(first.sum().item<float>(), 2.0f);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 5.0);
}

}  // namespace
}  // namespace crisp::tensor
