#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "crisp/base/files.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor::test {

// A file below tests/goldens/tensor.
Path sample(const std::string& name);

// What the Python packages read from the samples: {name: [shape, dtype, sum, weighted sum]}.
const nlohmann::json& expected();

// The message of the Error that `work` throws; a failed test and "" when it throws none. Anything else that
// escapes fails the test by itself.
std::string error_of(const std::function<void()>& work);

// Whether a message has this part; shows the message when not.
testing::AssertionResult mentions(const std::string& message, const std::string& part);

// Sum over i of (i + 1) * x_i in f64, as the generator computes it: sees elements in a wrong order.
double weighted_sum(const torch::Tensor& tensor);

// Expects exactly the named tensors with their shapes, types and numbers.
void expect_tensors(const StateDict& tensors, const nlohmann::json& summaries);

// A new file, left to the system to bring to the disk: for tests that write thousands.
void write_unsynced(const Path& path, std::string_view bytes);

// Reads damaged copies of a file: `rounds` times a few bytes are changed (most near the start and the end, where
// the headers are) or the end is cut off. Only crisp::Error may escape `read`. Returns how many were refused.
int fuzz(const Path& file, int rounds, const std::function<void(const Path&)>& read);

}  // namespace crisp::tensor::test
