#include "crisp/base/random.h"

#include <cmath>
#include <numbers>

namespace crisp {

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is never 0
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace crisp
