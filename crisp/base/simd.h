#pragma once

// Compiles a function for several generations of x86 and picks the best at run time, so that one portable
// binary uses the machine's vector units. The function must contain its own loops.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__)
#define CRISP_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CRISP_SIMD
#endif
