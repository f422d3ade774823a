#include "crisp/tensor/pickle.h"

#include "crisp/base/error.h"

namespace crisp::tensor::pickle {

const std::string* Value::bytes() const {
  const auto* held = std::get_if<Bytes>(&data);
  return held == nullptr ? nullptr : &held->data;
}

std::optional<bool> Value::boolean() const {
  const auto* held = std::get_if<bool>(&data);
  return held == nullptr ? std::nullopt : std::optional(*held);
}

std::optional<int64_t> Value::integer() const {
  const auto* held = std::get_if<int64_t>(&data);
  return held == nullptr ? std::nullopt : std::optional(*held);
}

std::optional<double> Value::number() const {
  if (const auto* held = std::get_if<double>(&data)) return *held;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

const List* Value::items() const {
  if (const auto* list = std::get_if<List>(&data)) return list;
  const auto* tuple = std::get_if<Tuple>(&data);
  return tuple == nullptr ? nullptr : &tuple->items;
}

const Value* Value::find(std::string_view key) const {
  const Dict* held = dict();
  if (held == nullptr) return nullptr;
  // From the end: of two equal keys the later one counts, as in Python.
  for (auto item = held->rbegin(); item != held->rend(); ++item) {
    if (item->first->text() != nullptr && *item->first->text() == key) return item->second;
  }
  return nullptr;
}

std::string Value::describe() const {
  struct Names {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool) const { return "a boolean"; }
    std::string operator()(int64_t) const { return "an integer"; }
    std::string operator()(double) const { return "a number"; }
    std::string operator()(const std::string&) const { return "text"; }
    std::string operator()(const Bytes&) const { return "bytes"; }
    std::string operator()(const List&) const { return "a list"; }
    std::string operator()(const Tuple&) const { return "a tuple"; }
    std::string operator()(const Dict&) const { return "a dict"; }
    std::string operator()(const torch::Tensor&) const { return "a tensor"; }
    std::string operator()(const Opaque& opaque) const { return opaque.what + " (not executed)"; }
    std::string operator()(const ArrayType&) const { return "an array type"; }
    std::string operator()(const EmptyArray&) const { return "an empty array"; }
  };
  return std::visit(Names{}, data);
}

Value& Document::add(Value::Data data) { return values_.emplace_back(Value{std::move(data)}); }

void Document::finish(const Value& root, size_t size) {
  root_ = &root;
  size_ = size;
}

}  // namespace crisp::tensor::pickle
