#pragma once

namespace crisp::tensor {

// Some virtual machines announce AMX but hide the table of its tiles (CPUID leaf 1DH). oneDNN believes the first, reads
// zeros for the second, and the first product in bf16 ends the process with an illegal instruction. Where that is so,
// oneDNN is told to leave AMX alone, unless the user has set ONEDNN_MAX_CPU_ISA. Must come before the first product;
// networks call it.
void avoid_hidden_amx();

}  // namespace crisp::tensor
