#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace crisp::ops {

// e^x for x in [-50, 0], to 2e-7 relative: 2^n times a polynomial of what is left (Cephes' coefficients), free of
// branches and calls so that loops over it vectorise.
inline float exp_negative(float x) {
  const float whole = std::floor(x * 1.44269504f + 0.5f);
  const float f = (x - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * f + 1.3981999507e-3f;
  p = p * f + 8.3334519073e-3f;
  p = p * f + 4.1665795894e-2f;
  p = p * f + 1.6666665459e-1f;
  p = p * f + 5.0000001201e-1f;
  p = p * f * f + f + 1.0f;
  return p * std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23);
}

}  // namespace crisp::ops
