#include "crisp/base/sha256.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace crisp {
namespace {

constexpr size_t kBlock = 64;
using State = std::array<uint32_t, 8>;

constexpr State kStart = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

alignas(16) constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

using Blocks = void (*)(State&, const unsigned char*, size_t);

void portable_blocks(State& state, const unsigned char* data, size_t count) {
  for (; count > 0; --count, data += kBlock) {
    std::array<uint32_t, 16> w;  // the last sixteen words of the schedule
    auto [a, b, c, d, e, f, g, h] = state;
    for (size_t i = 0; i < 64; ++i) {
      uint32_t& word = w[i % 16];
      if (i < 16) {
        word = big_endian(data + 4 * i);
      } else {
        const uint32_t near = w[(i + 14) % 16], far = w[(i + 1) % 16];
        word += (std::rotr(near, 17) ^ std::rotr(near, 19) ^ near >> 10) + w[(i + 9) % 16] +
                (std::rotr(far, 7) ^ std::rotr(far, 18) ^ far >> 3);
      }
      const uint32_t first =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + word;
      const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + first;
      d = c;
      c = b;
      b = a;
      a = first + second;
    }
    const State add = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) state[i] += add[i];
  }
}

#if defined(__x86_64__)

__attribute__((target("sha,sse4.1,ssse3"))) void instruction_blocks(State& state, const unsigned char* data,
                                                                    size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
  // The instructions keep the state as {a, b, e, f} and {c, d, g, h}.
  const __m128i badc = _mm_shuffle_epi32(load(&state[0]), 0xB1), hgfe = _mm_shuffle_epi32(load(&state[4]), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
  for (; count > 0; --count, data += kBlock) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {  // four rounds each
      __m128i& words = w[i % 4];
      if (i < 4) {
        words = _mm_shuffle_epi8(load(data + 16 * i), swap);
      } else {
        const __m128i last = w[(i + 3) % 4], middle = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
        words = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(words, w[(i + 1) % 4]), middle), last);
      }
      const __m128i sum = _mm_add_epi32(words, load(&kRound[4 * i]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[0]), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&state[4]), _mm_alignr_epi8(dchg, feba, 8));
}

// g++ 12's __builtin_cpu_supports does not know "sha": bit 29 of EBX of leaf 7 says it.
bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0 && __builtin_cpu_supports("sse4.1") != 0;
}

Blocks best_blocks() { return has_instructions() ? instruction_blocks : portable_blocks; }

#else

Blocks best_blocks() { return portable_blocks; }

#endif

Sha256 hash_with(Blocks blocks, std::string_view bytes) {
  State state = kStart;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const size_t whole = bytes.size() / kBlock, rest = bytes.size() % kBlock;
  blocks(state, data, whole);

  // What is left, a one bit, zeros, and the length in bits: one block or two.
  std::array<unsigned char, 2 * kBlock> end{};
  if (rest > 0) std::memcpy(end.data(), data + whole * kBlock, rest);
  end[rest] = 0x80;
  const size_t size = rest + 9 <= kBlock ? kBlock : 2 * kBlock;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (size_t i = 0; i < 8; ++i) end[size - 1 - i] = static_cast<unsigned char>(bits >> 8 * i);
  blocks(state, end.data(), size / kBlock);

  Sha256 hash;
  for (size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return hash;
}

}  // namespace

Sha256 sha256(std::string_view bytes) { return hash_with(best_blocks(), bytes); }

Sha256 sha256_portable(std::string_view bytes) { return hash_with(portable_blocks, bytes); }

Sha256 sha256_of_file(const Path& path) {
  const MappedFile file(path);
  return sha256({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
}

std::string to_hex(const Sha256& hash) {
  std::string text;
  for (const uint8_t byte : hash) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace crisp
