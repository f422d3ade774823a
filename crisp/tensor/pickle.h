#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "crisp/tensor/numpy_type.h"
#include "crisp/tensor/torch.h"

// Python's pickle read as data. A pickle is a program for a small stack machine that may call any function; this
// reader runs the stack machine and calls nothing. A handful of known constructors (tensors, arrays, ordered
// dicts) are done here; every other class, function and object becomes an opaque value that can only be named.
namespace crisp::tensor::pickle {

class Value;
using List = std::vector<const Value*>;
using Dict = std::vector<std::pair<const Value*, const Value*>>;  // in file order

// One node of what was read. Owned by its Document; values may be shared and, in a hostile file, circular, so
// readers follow a known structure and do not walk blindly.
class Value {
 public:
  struct Bytes {
    std::string data;
  };
  struct Tuple {
    List items;
  };
  // A class or function that was named, or an object made by one; `what` is the dotted name. Never executed.
  struct Opaque {
    std::string what;
    bool global = false;  // named, not yet called
  };
  struct ArrayType {
    std::string code;  // as in numpy.dtype("f4")
    std::string order = "|";
  };
  struct EmptyArray {};  // numpy's array before its contents are set
  using Data = std::variant<std::monostate, bool, int64_t, double, std::string, Bytes, List, Tuple, Dict, torch::Tensor,
                            Opaque, ArrayType, EmptyArray>;

  Data data;

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  const std::string* text() const { return std::get_if<std::string>(&data); }
  const std::string* bytes() const;
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  std::optional<double> number() const;  // integers too
  const List* items() const;             // of a list or a tuple
  const Dict* dict() const { return std::get_if<Dict>(&data); }
  const torch::Tensor* tensor() const { return std::get_if<torch::Tensor>(&data); }
  const Opaque* opaque() const { return std::get_if<Opaque>(&data); }

  // The value under a text key of a dict; null when it is no dict or has no such key.
  const Value* find(std::string_view key) const;

  // "an integer", "a list", "os.system (not executed)": for messages.
  std::string describe() const;
};

// Owns all values of one pickle.
class Document {
 public:
  const Value& root() const { return *root_; }
  size_t size() const { return size_; }  // bytes from the pickle's start to its end

  // For the reader only: a new node, and the results.
  Value& add(Value::Data data);
  void finish(const Value& root, size_t size);
  size_t count() const { return values_.size(); }

 private:
  std::deque<Value> values_;  // nodes never move
  const Value* root_ = nullptr;
  size_t size_ = 0;
};

// Gives the flat tensor of a storage that the pickle refers to, from torch's tuple
// ("storage", class, key, location, count); nothing leaves tensors of it opaque.
using StorageLoader = std::function<std::optional<torch::Tensor>(const Value& id)>;

// Reads one pickle (binary protocols 2 to 5) at the start of `bytes`. Errors start with `source`.
Document parse(std::span<const std::byte> bytes, const std::string& source, const StorageLoader& load_storage = {});

}  // namespace crisp::tensor::pickle
