#include "crisp/tensor/pickle.h"

#include <gtest/gtest.h>

#include "crisp/base/error.h"
#include "tests/tensor/fixtures.h"

namespace crisp::tensor::pickle {
namespace {

using test::error_of;
using test::mentions;
using namespace std::string_literals;

Document parse_text(const std::string& bytes, const StorageLoader& load = {}) {
  return parse(std::as_bytes(std::span(bytes.data(), bytes.size())), "made", load);
}

std::string refusal(const std::string& bytes, const StorageLoader& load = {}) {
  const std::string message = error_of([&] { parse_text(bytes, load); });
  EXPECT_TRUE(message.starts_with("made: ")) << message;
  return message;
}

// pickle.dumps(value, protocol=2) of each.
TEST(Pickle, PlainValues) {
  EXPECT_TRUE(parse_text("\x80\x02N.").root().is_none());
  EXPECT_EQ(parse_text("\x80\x02\x88.").root().boolean(), true);
  EXPECT_EQ(parse_text("\x80\x02K\x2a.").root().integer(), 42);
  EXPECT_EQ(parse_text("\x80\x02J\xfe\xff\xff\xff.").root().integer(), -2);
  EXPECT_EQ(parse_text("\x80\x02\x8a\x06\x00\x00\x00\x00\x00\xff."s).root().integer(), -(int64_t{1} << 40));
  EXPECT_EQ(parse_text("\x80\x02\x8a\x00."s).root().integer(), 0);
  EXPECT_EQ(parse_text("\x80\x02G?\xf8\x00\x00\x00\x00\x00\x00."s).root().number(), 1.5);
  EXPECT_EQ(*parse_text("\x80\x02X\x02\x00\x00\x00hiq\x00."s).root().text(), "hi");
  EXPECT_EQ(*parse_text("\x80\x03"s + "C\x02hiq\x00."s).root().bytes(), "hi");
  const Document tuple = parse_text("\x80\x02K\x01K\x02\x86q\x00."s);
  ASSERT_EQ(tuple.root().items()->size(), 2u);
  EXPECT_EQ((*tuple.root().items())[1]->integer(), 2);
}

TEST(Pickle, TellsWhereItEnds) { EXPECT_EQ(parse_text("\x80\x02K\x07.rest").size(), 5u); }

TEST(Pickle, CodeIsNamedAndNeverCalled) {
  // os.system("true"), then an object with state, then one with items.
  const Document call = parse_text("\x80\x02"s + "cos\nsystem\nU\x04true\x85R.");
  EXPECT_EQ(call.root().describe(), "os.system (not executed)");
  const Document built = parse_text("\x80\x02"s + "cbuiltins\neval\n)\x81}U\x01"s + "aK\x01sb.");
  EXPECT_EQ(built.root().describe(), "builtins.eval (not executed)");
  const Document filled = parse_text("\x80\x02"s + "cm\nDefaultDict\n)R(K\x01K\x02u(K\x01"s + "e.");
  EXPECT_EQ(filled.root().opaque()->what, "m.DefaultDict");
  // What a call gave is called again.
  EXPECT_NE(parse_text("\x80\x02"s + "ca\nb\n)R)R.").root().opaque(), nullptr);
}

TEST(Pickle, DamagedProgramsAreRefused) {
  EXPECT_TRUE(mentions(refusal(""), "ends too early"));
  EXPECT_TRUE(mentions(refusal("\x80\x02"), "ends too early"));
  EXPECT_TRUE(mentions(refusal("\x80\x02."), "takes more than it made"));
  EXPECT_TRUE(mentions(refusal("\x80\x02h\x05."), "recalls what it never stored"));
  EXPECT_TRUE(mentions(refusal("\x80\x02X\xff\xff\xff\xff."), "ends too early"));
  EXPECT_TRUE(mentions(refusal("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), "ends too early"));
  EXPECT_TRUE(mentions(refusal("\x80\x02t."), "mark"));
  EXPECT_TRUE(mentions(refusal("\x80\x02(."), "takes more"));
  EXPECT_TRUE(mentions(refusal("\x80\x02}(K\x01u."), "no value"));
  EXPECT_TRUE(mentions(refusal("\x80\x02K\x01K\x01"s + "a."), "added to an integer"));
  EXPECT_TRUE(mentions(refusal("\x80\x02K\x01K\x01K\x01s."), "set in an integer"));
  EXPECT_TRUE(mentions(refusal("\x80\x02K\x01K\x01R."), "arguments"));
  EXPECT_TRUE(mentions(refusal("\x80\x09N."), "protocol 9"));
  EXPECT_TRUE(mentions(refusal("I1\n."), "opcode 'I'"));
  EXPECT_TRUE(mentions(refusal("\x80\x02\xff."), "opcode 0xff"));
}

TEST(Pickle, DepthAndCyclesDoNoHarm) {
  // Three million tuples, one inside the other: nothing here recurses, not even taking it apart.
  EXPECT_NE(parse_text("\x80\x02)"s + std::string(3'000'000, '\x85') + ".").root().items(), nullptr);
  EXPECT_TRUE(mentions(refusal("\x80\x02)"s + std::string(9'000'000, '\x85') + "."), "too many values"));
  // A list that holds itself.
  const Document circle = parse_text("\x80\x02]q\x00h\x00"s + "a.");
  EXPECT_EQ((*circle.root().items())[0], &circle.root());
}

TEST(Pickle, ASmallPickleCannotUnfoldToMuchMemory) {
  // One megabyte of text turned into bytes again and again.
  std::string bomb = "\x80\x02"s + "c_codecs\nencode\nq\x01X\x00\x00\x10\x00"s + std::string(1 << 20, 'a') +
                     "X\x06\x00\x00\x00latin1\x86q\x02"s;
  for (int i = 0; i < 1000; ++i) bomb += "h\x01h\x02R0"s;
  EXPECT_TRUE(mentions(refusal(bomb + "."), "far more data"));
}

std::string integer(int64_t value) {
  std::string text = "\x8a\x08";
  for (int i = 0; i < 8; ++i) text += static_cast<char>((static_cast<uint64_t>(value) >> (8 * i)) & 0xFF);
  return text;
}

// A tensor as torch pickles it, of a storage of 6 numbers 0..5.
std::string tensor_pickle(int64_t offset, const std::vector<int64_t>& size, const std::vector<int64_t>& stride) {
  std::string text = "\x80\x02"s + "ctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01" +
                     "0U\x03"s + "cpuK\x06tQ"s + integer(offset);
  for (const auto& numbers : {size, stride}) {
    text += "(";
    for (const int64_t number : numbers) text += integer(number);
    text += "t";
  }
  return text + "\x89"s + "ccollections\nOrderedDict\n)RtR.";
}

std::optional<torch::Tensor> six_numbers(const Value&) { return torch::arange(6, torch::kFloat32); }

TEST(Pickle, TensorsAreViewsOfTheirStorage) {
  const Document turned = parse_text(tensor_pickle(0, {3, 2}, {1, 3}), six_numbers);
  EXPECT_TRUE(torch::equal(*turned.root().tensor(), torch::arange(6, torch::kFloat32).view({2, 3}).t()));
  const Document last = parse_text(tensor_pickle(5, {}, {}), six_numbers);
  EXPECT_EQ(last.root().tensor()->item<float>(), 5.0f);
  const Document empty = parse_text(tensor_pickle(6, {0, 4}, {4, 1}), six_numbers);
  EXPECT_EQ(empty.root().tensor()->sizes(), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(parse_text(tensor_pickle(0, {2}, {1})).root().tensor(), nullptr);  // without a loader
}

TEST(Pickle, TensorsBeyondTheirStorageAreRefused) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_TRUE(mentions(refusal(tensor_pickle(1, {6}, {1}), six_numbers), "beyond its storage"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(6, {}, {}), six_numbers), "beyond its storage"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {2}, {6}), six_numbers), "beyond its storage"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {5}, {huge}), six_numbers), "beyond its storage"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(huge, {2, 2}, {huge, huge}), six_numbers), "beyond its storage"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {huge}, {0}), six_numbers), "does not fit"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {huge, 8}, {0, 0}), six_numbers), "does not fit"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(-1, {2}, {1}), six_numbers), "does not fit"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {2, 2}, {1}), six_numbers), "does not fit"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {-2}, {1}), six_numbers), "bad tensor size"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, {2}, {-1}), six_numbers), "bad tensor stride"));
  EXPECT_TRUE(mentions(refusal(tensor_pickle(0, std::vector<int64_t>(100, 1), {}), six_numbers), "bad tensor size"));
}

}  // namespace
}  // namespace crisp::tensor::pickle
