#pragma once

#include <string>

#include "crisp/tensor/pickle.h"

namespace crisp::tensor::pickle {

// The few constructors a pickle may ask for. Everything else it asks for yields an opaque value.
class Objects {
 public:
  // At most `byte_budget` bytes of new memory are made by all calls together: a small hostile pickle can ask for
  // the same array a million times.
  Objects(Document& document, const std::string& source, size_t byte_budget)
      : document_(document), source_(source), budget_(byte_budget) {}

  // callable(*arguments)
  Value& call(const Value& callable, const Value& arguments);

  // object.__setstate__(state); only arrays and their types have a state that matters here.
  void set_state(Value& object, const Value& state);

 private:
  Value& opaque(const Value& callable);
  Value& rebuild_tensor(const Value& callable, const List& arguments);
  Value& ordered_dict(const List& arguments);
  Value& encoded(const Value& callable, const List& arguments);
  Value& scalar(const Value& callable, const List& arguments);
  Value& from_buffer(const Value& callable, const List& arguments);
  Value::Data array(const Value& shape, const Value& type, bool fortran_order, const Value& contents);
  std::optional<NumpyType> numpy_type(const Value& type) const;
  std::vector<int64_t> sizes(const Value& tuple, const char* what) const;
  void spend(size_t bytes);

  Document& document_;
  const std::string& source_;
  size_t budget_;
};

}  // namespace crisp::tensor::pickle
