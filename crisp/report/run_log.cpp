#include "crisp/report/run_log.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "crisp/base/error.h"

namespace crisp::report {
namespace {

using Json = nlohmann::ordered_json;

const LogValue* find(const LogRecord& record, const std::string& name) {
  const auto found =
      std::find_if(record.fields.begin(), record.fields.end(), [&](const auto& field) { return field.first == name; });
  return found == record.fields.end() ? nullptr : &found->second;
}

Json to_json(const LogValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return *whole;
  if (const auto* number = std::get_if<double>(&value); number != nullptr && std::isfinite(*number)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

std::string to_line(const LogRecord& record) {
  Json object{{"step", record.step}};
  for (const auto& [name, value] : record.fields) {
    if (object.contains(name)) throw Error("a line of the run's log cannot have the field '{}' twice", name);
    object[name] = to_json(value);
  }
  // Names of files may be anything but UTF-8, and must not end a run.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

LogValue to_value(const std::string& name, const Json& value) {
  if (value.is_null()) return std::monostate();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return value.get<double>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  throw Error("'{}' is neither a number nor a text", name);
}

LogRecord to_record(std::string_view line) {
  const Json object = Json::parse(line);
  if (!object.is_object()) throw Error("not an object");
  LogRecord record;
  bool has_step = false;
  for (const auto& [name, value] : object.items()) {
    const LogValue read = to_value(name, value);
    if (name != "step") {
      record.fields.emplace_back(name, read);
      continue;
    }
    const auto* step = std::get_if<int64_t>(&read);
    if (step == nullptr) throw Error("'step' is no whole number");
    record.step = *step;
    has_step = true;
  }
  if (!has_step) throw Error("it has no 'step'");
  return record;
}

struct Line {
  std::string_view text;  // without its end
  LogRecord record;
};

// Views of `contents`.
std::vector<Line> parse_lines(const Path& path, std::string_view contents) {
  std::vector<Line> lines;
  while (!contents.empty()) {
    const size_t end = contents.find('\n');
    const bool last = end == std::string_view::npos;
    const std::string_view text = contents.substr(0, end);
    contents.remove_prefix(last ? contents.size() : end + 1);
    const auto broken = [&](std::string_view reason) {
      return Error("{} line {}: {}; repair or remove the line", path.string(), lines.size() + 1, reason);
    };
    try {
      lines.push_back({text, to_record(text)});
    } catch (const Json::exception&) {
      if (last) break;  // torn: the beginning of an object is never an object
      throw broken("not a JSON object");
    } catch (const Error& error) {
      throw broken(error.what());
    }
  }
  return lines;
}

// Leaves the lines up to `step`, each with its end. The file is touched only where that changes it.
void rewrite(const Path& path, int64_t step) {
  const std::string contents = read_text(path);
  std::string kept;
  for (const Line& line : parse_lines(path, contents)) {
    if (line.record.step > step) continue;
    kept += line.text;
    kept += '\n';
  }
  if (kept != contents) write_atomic(path, kept);
}

AppendFile open_repaired(const Path& path) {
  if (std::filesystem::exists(path)) rewrite(path, INT64_MAX);
  return AppendFile(path);
}

}  // namespace

std::optional<double> LogRecord::number(const std::string& name) const {
  const LogValue* value = find(*this, name);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<int64_t>(value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(value)) return *real;
  return std::nullopt;
}

std::optional<std::string> LogRecord::text(const std::string& name) const {
  const LogValue* value = find(*this, name);
  const auto* found = value == nullptr ? nullptr : std::get_if<std::string>(value);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

RunLog::RunLog(const Path& path) : file_(open_repaired(path)) {}

void RunLog::append(const LogRecord& record) { file_.append(to_line(record)); }

void RunLog::truncate_after(int64_t step) {
  const Path path = file_.path();
  rewrite(path, step);
  file_ = AppendFile(path);  // the old one may be gone from the folder
}

std::vector<LogRecord> read_run_log(const Path& path) {
  const std::string contents = read_text(path);
  std::vector<LogRecord> records;
  for (Line& line : parse_lines(path, contents)) records.push_back(std::move(line.record));
  return records;
}

}  // namespace crisp::report
