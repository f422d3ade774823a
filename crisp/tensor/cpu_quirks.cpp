#include "crisp/tensor/cpu_quirks.h"

#include <cstdlib>
#include <mutex>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace crisp::tensor {
namespace {

bool announces_amx_without_tiles() {
#if defined(__x86_64__)
  constexpr unsigned kAmxTile = 1u << 24;  // of leaf 7, EDX
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kAmxTile) == 0) return false;
  return __get_cpuid_count(0x1D, 1, &a, &b, &c, &d) == 0 || b == 0;
#else
  return false;
#endif
}

}  // namespace

void avoid_hidden_amx() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (announces_amx_without_tiles()) setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16", /*overwrite=*/0);
  });
}

}  // namespace crisp::tensor
