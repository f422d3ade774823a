#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace crisp::tensor {

// JSON written by others: at most 64 levels deep, else an Error that starts with `source`.
nlohmann::json parse_json(std::string_view text, const std::string& source);

// Compact JSON; text that is not UTF-8 is an Error that starts with `source`.
std::string dump_json(const nlohmann::json& value, const std::string& source);

}  // namespace crisp::tensor
