#pragma once

#include <cstdint>

namespace crisp {

// One step of SplitMix64: a bijection that scrambles every bit. The base of seeds and of Rng.
constexpr uint64_t mix_bits(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// A seed for item `index` of a stream: per-sample randomness that does not depend on the order or the
// number of threads in which samples are made.
constexpr uint64_t derive_seed(uint64_t seed, uint64_t index) { return mix_bits(mix_bits(seed) ^ mix_bits(~index)); }

// Small generator with the same numbers on every platform (the standard's distributions differ
// between libraries, so they are not used). Its whole state is one integer.
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  Rng(uint64_t seed, uint64_t index) : state_(derive_seed(seed, index)) {}

  uint64_t bits() {
    const uint64_t value = mix_bits(state_);
    state_ += 0x9E3779B97F4A7C15ull;
    return value;
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // [0, bound), without the bias of a plain remainder: the top of a 64x64 bit product.
  int64_t below(int64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>((static_cast<Wide>(bits()) * static_cast<uint64_t>(bound)) >> 64);
  }
  bool chance(double probability) { return uniform() < probability; }
  double normal();  // mean 0, deviation 1

  uint64_t state() const { return state_; }

 private:
  uint64_t state_;
};

}  // namespace crisp
