#pragma once

#include <cstdint>

namespace crisp {

// Tells the allocator to keep freed blocks for the next use instead of returning them to the system after every
// pass of a network: touching fresh pages again costs more than some layers. For programs, not for libraries.
void keep_freed_memory();

// Most memory this process ever held resident, in MB, and what it holds now.
double peak_memory_mb();
double resident_memory_mb();

}  // namespace crisp
