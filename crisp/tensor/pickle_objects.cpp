#include "crisp/tensor/pickle_objects.h"

#include "crisp/base/error.h"
#include "crisp/tensor/bytes.h"
#include "crisp/tensor/pth.h"
#include "crisp/tensor/state_dict.h"

namespace crisp::tensor::pickle {
namespace {

// Raw bytes, which Python 2 wrote as text.
std::optional<std::span<const std::byte>> raw_bytes(const Value& value) {
  const std::string* held = value.bytes() != nullptr ? value.bytes() : value.text();
  if (held == nullptr) return std::nullopt;
  return std::as_bytes(std::span(held->data(), held->size()));
}

// UTF-8 of characters up to U+00FF to one byte each; nothing for other text.
std::optional<std::string> latin1(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      bytes += text[i];
    } else if ((c == 0xC2 || c == 0xC3) && i + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[++i]);
      bytes += static_cast<char>(((c & 0x03) << 6) | (next & 0x3F));
    } else {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace

void Objects::spend(size_t bytes) {
  if (bytes > budget_) throw Error("{}: the pickle unfolds to far more data than it holds", source_);
  budget_ -= bytes;
}

Value& Objects::opaque(const Value& callable) {
  const Value::Opaque* named = callable.opaque();
  return document_.add(Value::Opaque{named != nullptr ? named->what : callable.describe(), false});
}

std::vector<int64_t> Objects::sizes(const Value& tuple, const char* what) const {
  constexpr size_t kMostDimensions = 64;
  const List* items = tuple.items();
  if (items == nullptr || items->size() > kMostDimensions) throw Error("{}: bad {} in the pickle", source_, what);
  std::vector<int64_t> numbers;
  for (const Value* item : *items) {
    const auto number = item->integer();
    if (!number || *number < 0) throw Error("{}: bad {} in the pickle", source_, what);
    numbers.push_back(*number);
  }
  return numbers;
}

Value& Objects::call(const Value& callable, const Value& arguments) {
  const Value::Opaque* named = callable.opaque();
  const List* items = arguments.items();
  if (items == nullptr) throw Error("{}: corrupt pickle: a call without a tuple of arguments", source_);
  if (named == nullptr || !named->global) return opaque(callable);
  const std::string& name = named->what;
  if (name == "collections.OrderedDict") return ordered_dict(*items);
  if (name == "torch._utils._rebuild_tensor_v2") return rebuild_tensor(callable, *items);
  if (name == "torch._utils._rebuild_parameter" && !items->empty() && items->front()->tensor() != nullptr) {
    return document_.add(*items->front()->tensor());
  }
  if (name == "torch.storage._load_from_bytes" && items->size() == 1 && items->front()->bytes() != nullptr) {
    const std::string& bytes = *items->front()->bytes();
    spend(bytes.size());
    const auto storage = read_storage(std::as_bytes(std::span(bytes)), source_);
    return storage ? document_.add(*storage) : opaque(callable);
  }
  if (name == "torch.Size" && items->size() == 1 && items->front()->items() != nullptr) {
    spend(items->front()->items()->size() * sizeof(Value*));
    return document_.add(Value::Tuple{*items->front()->items()});
  }
  if (name == "_codecs.encode") return encoded(callable, *items);
  if (name == "numpy.dtype" && !items->empty() && items->front()->text() != nullptr) {
    return document_.add(Value::ArrayType{*items->front()->text(), "|"});
  }
  // NumPy 2 renamed its inner package.
  for (const std::string_view package : {"numpy.core.", "numpy._core."}) {
    if (!name.starts_with(package)) continue;
    const std::string_view function = std::string_view(name).substr(package.size());
    if (function == "multiarray._reconstruct") return document_.add(Value::EmptyArray{});
    if (function == "multiarray.scalar") return scalar(callable, *items);
    if (function == "numeric._frombuffer") return from_buffer(callable, *items);
  }
  return opaque(callable);
}

void Objects::set_state(Value& object, const Value& state) {
  const List* items = state.items();
  if (auto* type = std::get_if<Value::ArrayType>(&object.data)) {
    // (version, byte order, ...)
    if (items == nullptr || items->size() < 2 || (*items)[1]->text() == nullptr) {
      throw Error("{}: bad array type in the pickle", source_);
    }
    type->order = *(*items)[1]->text();
  } else if (std::holds_alternative<Value::EmptyArray>(object.data)) {
    // (version, shape, type, is it in Fortran order, contents)
    if (items == nullptr || items->size() != 5) throw Error("{}: bad array in the pickle", source_);
    object.data = array(*(*items)[1], *(*items)[2], (*items)[3]->boolean().value_or(false), *(*items)[4]);
  }
}

Value& Objects::ordered_dict(const List& arguments) {
  Dict dict;
  if (!arguments.empty()) {
    const List* pairs = arguments.front()->items();
    if (pairs == nullptr) throw Error("{}: bad OrderedDict in the pickle", source_);
    spend(pairs->size() * sizeof(Dict::value_type));
    for (const Value* pair : *pairs) {
      const List* both = pair->items();
      if (both == nullptr || both->size() != 2) throw Error("{}: bad OrderedDict in the pickle", source_);
      dict.emplace_back((*both)[0], (*both)[1]);
    }
  }
  return document_.add(std::move(dict));
}

// (storage, offset, size, stride, requires_grad, hooks): a view of a storage, checked against its length.
Value& Objects::rebuild_tensor(const Value& callable, const List& arguments) {
  if (arguments.size() < 4) throw Error("{}: bad tensor in the pickle", source_);
  const torch::Tensor* storage = arguments[0]->tensor();
  if (storage == nullptr) return opaque(callable);
  const auto offset = arguments[1]->integer();
  const std::vector<int64_t> shape = sizes(*arguments[2], "tensor size");
  const std::vector<int64_t> strides = sizes(*arguments[3], "tensor stride");
  const auto count = tensor_bytes(shape, 1);
  const int64_t length = storage->numel();
  if (!offset || *offset < 0 || shape.size() != strides.size() || !count || *count > length) {
    throw Error("{}: a tensor of size {} does not fit its storage of {} elements", source_, shape_text(shape), length);
  }
  if (*count == 0) return document_.add(torch::empty(shape, storage->options()));
  int64_t last = *offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last)) {
      last = length;
      break;
    }
  }
  if (last >= length) {
    throw Error("{}: a tensor of size {} reaches beyond its storage of {} elements", source_, shape_text(shape),
                length);
  }
  return document_.add(storage->as_strided(shape, strides, *offset));
}

// Python 3 writes bytes into protocol 2 as _codecs.encode(text, "latin1").
Value& Objects::encoded(const Value& callable, const List& arguments) {
  if (arguments.size() != 2 || arguments[0]->text() == nullptr || arguments[1]->text() == nullptr ||
      *arguments[1]->text() != "latin1") {
    return opaque(callable);
  }
  spend(arguments[0]->text()->size());
  auto bytes = latin1(*arguments[0]->text());
  if (!bytes) throw Error("{}: bad bytes in the pickle", source_);
  return document_.add(Value::Bytes{std::move(*bytes)});
}

std::optional<NumpyType> Objects::numpy_type(const Value& type) const {
  const auto* held = std::get_if<Value::ArrayType>(&type.data);
  return held == nullptr ? std::nullopt : parse_numpy_type(held->order + held->code);
}

Value::Data Objects::array(const Value& shape, const Value& type, bool fortran_order, const Value& contents) {
  const auto known = numpy_type(type);
  if (!known) return Value::Opaque{"numpy.ndarray of another type", false};
  const std::vector<int64_t> dimensions = sizes(shape, "array shape");
  if (known->object) {
    // An array of objects is a list of them, whatever its dimensions.
    const List* items = contents.items();
    const auto count = tensor_bytes(dimensions, 1);
    if (items == nullptr || !count || *count != static_cast<int64_t>(items->size())) {
      throw Error("{}: bad array of objects in the pickle", source_);
    }
    spend(items->size() * sizeof(Value*));
    return *items;
  }
  const auto bytes = raw_bytes(contents);
  if (!bytes) throw Error("{}: bad array in the pickle", source_);
  spend(bytes->size());
  return tensor_from_numpy(*known, dimensions, fortran_order, *bytes, source_);
}

// (type, bytes): one number.
Value& Objects::scalar(const Value& callable, const List& arguments) {
  if (arguments.size() != 2) return opaque(callable);
  const auto known = numpy_type(*arguments[0]);
  const auto bytes = raw_bytes(*arguments[1]);
  if (!known || known->object || !bytes) return opaque(callable);
  const torch::Tensor number = tensor_from_numpy(*known, {}, false, *bytes, source_);
  if (known->type == torch::kBool) return document_.add(number.item<bool>());
  if (known->type == torch::kUInt64) {
    const auto whole = load_number<int64_t>(static_cast<const std::byte*>(number.const_data_ptr()));
    return whole < 0 ? opaque(callable) : document_.add(whole);
  }
  if (c10::isIntegralType(known->type, false)) return document_.add(number.to(torch::kInt64).item<int64_t>());
  return document_.add(number.item<double>());
}

// Protocol 5: (bytes, type, shape, order).
Value& Objects::from_buffer(const Value& callable, const List& arguments) {
  if (arguments.size() != 4 || arguments[3]->text() == nullptr) return opaque(callable);
  return document_.add(array(*arguments[2], *arguments[1], *arguments[3]->text() == "F", *arguments[0]));
}

}  // namespace crisp::tensor::pickle
