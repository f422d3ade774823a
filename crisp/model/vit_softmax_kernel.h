#pragma once

#include <cstdint>

namespace crisp::model {

// Rows `begin` to `end` of a matrix with `columns` columns, in place: softmax(scale * row), in f32 inside. Exponentials
// are within 2e-7 of the right ones.
void softmax_f32(float scale, int64_t begin, int64_t end, int64_t columns, void* matrix);
void softmax_bf16(float scale, int64_t begin, int64_t end, int64_t columns, void* matrix);

}  // namespace crisp::model
