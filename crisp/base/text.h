#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crisp {

std::string trim(std::string_view text);

// "a,b,,c" by ',' -> {"a", "b", "", "c"}; each part trimmed.
std::vector<std::string> split(std::string_view text, char separator);

// Words between any white space.
std::vector<std::string> split_words(std::string_view text);

// Lines without their ends; "\r\n" and a byte order mark are handled. A last empty line is not a line.
std::vector<std::string> split_lines(std::string_view text);

// The whole text as a number, or nothing.
std::optional<int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// "a, b, c and 7 more": for messages that must not flood the screen.
std::string join_some(const std::vector<std::string>& parts, size_t most = 8);

// 7654321 -> "7.3 MiB".
std::string format_bytes(uint64_t count);

}  // namespace crisp
