#include "crisp/base/sha256.h"

#include <gtest/gtest.h>

#include "tests/support/support.h"

namespace crisp {
namespace {

// FIPS 180-2, appendix B, and NIST's further examples (SHA256.pdf and the additional test data).
TEST(BaseSha256, KnownVectors) {
  const auto both = [](const std::string& bytes, const char* hash) {
    EXPECT_EQ(to_hex(sha256(bytes)), hash) << bytes.size() << " bytes";
    EXPECT_EQ(to_hex(sha256_portable(bytes)), hash) << bytes.size() << " bytes";
  };
  both("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  both("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  both("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  both(std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  both("\xbd", "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  both("\xc9\x8c\x8e\x55", "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
  both(std::string(55, '\0'), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  both(std::string(56, '\0'), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  both(std::string(57, '\0'), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  both(std::string(64, '\0'), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(BaseSha256, BothWaysAgreeAtEveryLength) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(sha256(bytes), sha256_portable(bytes)) << i;
    bytes += static_cast<char>(i * 37 + 11);
  }
}

TEST(BaseSha256, OfFiles) {
  const TemporaryFolder folder;
  write_atomic(folder.path() / "abc", "abc");
  EXPECT_EQ(sha256_of_file(folder.path() / "abc"), sha256("abc"));
  write_atomic(folder.path() / "empty", "");
  EXPECT_EQ(sha256_of_file(folder.path() / "empty"), sha256(""));
  EXPECT_NE(test::error_of([&] { sha256_of_file(folder.path() / "none"); }).find("none"), std::string::npos);
}

}  // namespace
}  // namespace crisp
