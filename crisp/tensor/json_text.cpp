#include "crisp/tensor/json_text.h"

#include <nlohmann/json.hpp>

#include "crisp/base/error.h"

namespace crisp::tensor {

nlohmann::json parse_json(std::string_view text, const std::string& source) {
  constexpr int kDeepest = 64;
  const auto watch = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kDeepest) throw Error("{}: JSON nested deeper than {} levels", source, kDeepest);
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::exception& problem) {
    // The parser quotes what it read last, which may be the whole file.
    throw Error("{}: not valid JSON ({})", source, std::string(problem.what()).substr(0, 200));
  }
}

std::string dump_json(const nlohmann::json& value, const std::string& source) {
  try {
    return value.dump();
  } catch (const nlohmann::json::exception& problem) {
    throw Error("{}: cannot be written as JSON ({})", source, problem.what());
  }
}

}  // namespace crisp::tensor
