#include <array>
#include <bit>
#include <unordered_map>

#include "crisp/base/error.h"
#include "crisp/tensor/bytes.h"
#include "crisp/tensor/pickle.h"
#include "crisp/tensor/pickle_objects.h"

namespace crisp::tensor::pickle {
namespace {

constexpr size_t kMostValues = 8'000'000;
constexpr size_t kLeastBudget = 64 << 20;

// Runs one pickle: bytes in, values out. Opcodes are written as in Python's pickletools.
class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& source, const StorageLoader& load_storage)
      : bytes_(bytes),
        source_(source),
        load_storage_(load_storage),
        objects_(document_, source_, std::max(kLeastBudget, 8 * bytes.size())) {}

  Document run() {
    while (true) {
      const auto opcode = number<unsigned char>();
      if (opcode == '.') {  // STOP
        Value& root = pop();
        document_.finish(root, at_);
        return std::move(document_);
      }
      if (!structure(opcode) && !literal(opcode) && !container(opcode) && !object(opcode)) {
        fail(opcode >= 0x20 && opcode < 0x7F
                 ? fmt::format("opcode '{}' at byte {} is not one of a weight file", static_cast<char>(opcode), at_ - 1)
                 : fmt::format("opcode {:#04x} at byte {} is not one of a weight file", opcode, at_ - 1));
      }
      if (document_.count() > kMostValues) fail("too many values");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw Error("{}: corrupt pickle: {}", source_, problem); }

  // Bytes.

  std::span<const std::byte> take(uint64_t count) {
    if (count > bytes_.size() - at_) fail("it ends too early");
    const auto taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }

  template <typename T>
  T number() {
    return load_number<T>(take(sizeof(T)).data());
  }

  std::string text(uint64_t count) {
    const auto taken = take(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  std::string line() {
    std::string result;
    for (auto c = number<char>(); c != '\n'; c = number<char>()) result += c;
    return result;
  }

  // The stack. A mark fences off what lies below it.

  void push(Value& value) { stack_.push_back(&value); }
  void push(Value::Data data) { push(document_.add(std::move(data))); }

  Value& top() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("it takes more than it made");
    return *stack_.back();
  }

  Value& pop() {
    Value& value = top();
    stack_.pop_back();
    return value;
  }

  List pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    List items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  List pop_items(size_t count) {
    List items(count);
    for (size_t i = count; i > 0; --i) items[i - 1] = &pop();
    return items;
  }

  void recall(uint32_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) fail("it recalls what it never stored");
    push(*found->second);
  }

  // Order, stack and memo.
  bool structure(unsigned char opcode) {
    switch (opcode) {
      case 0x80: {  // PROTO
        const auto protocol = number<uint8_t>();
        if (protocol < 2 || protocol > 5) fail(fmt::format("protocol {} is not supported", protocol));
        return true;
      }
      case 0x95:
        number<uint64_t>();
        return true;  // FRAME: only a hint for reading ahead
      case '(':
        marks_.push_back(stack_.size());
        return true;
      case '0':  // POP
        if (!marks_.empty() && marks_.back() == stack_.size()) {
          marks_.pop_back();
        } else {
          pop();
        }
        return true;
      case '1':
        pop_to_mark();
        return true;
      case '2':
        push(top());
        return true;  // DUP
      case 'q':
        memo_[number<uint8_t>()] = &top();
        return true;
      case 'r':
        memo_[number<uint32_t>()] = &top();
        return true;
      case 0x94: {  // MEMOIZE
        const auto next = static_cast<uint32_t>(memo_.size());
        memo_[next] = &top();
        return true;
      }
      case 'h':
        recall(number<uint8_t>());
        return true;
      case 'j':
        recall(number<uint32_t>());
        return true;
      default:
        return false;
    }
  }

  // Numbers, text, bytes.
  bool literal(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        push(std::monostate{});
        return true;
      case 0x88:
        push(true);
        return true;
      case 0x89:
        push(false);
        return true;
      case 'J':
        push(static_cast<int64_t>(number<int32_t>()));
        return true;
      case 'K':
        push(static_cast<int64_t>(number<uint8_t>()));
        return true;
      case 'M':
        push(static_cast<int64_t>(number<uint16_t>()));
        return true;
      case 0x8A:
        push(long_integer(number<uint8_t>()));
        return true;
      case 0x8B:
        push(long_integer(number<uint32_t>()));
        return true;
      case 'G':
        push(std::bit_cast<double>(__builtin_bswap64(number<uint64_t>())));
        return true;
      case 'X':
        push(text(number<uint32_t>()));
        return true;
      case 0x8C:
        push(text(number<uint8_t>()));
        return true;
      case 0x8D:
        push(text(number<uint64_t>()));
        return true;
      case 'T':
        push(text(number<uint32_t>()));
        return true;  // Python 2 strings
      case 'U':
        push(text(number<uint8_t>()));
        return true;
      case 'B':
        push(Value::Bytes{text(number<uint32_t>())});
        return true;
      case 'C':
        push(Value::Bytes{text(number<uint8_t>())});
        return true;
      case 0x8E:
        push(Value::Bytes{text(number<uint64_t>())});
        return true;
      case 0x96:
        push(Value::Bytes{text(number<uint64_t>())});
        return true;  // BYTEARRAY8
      default:
        return false;
    }
  }

  // Two's complement of any length; what does not fit 64 bits is of no use here.
  Value::Data long_integer(uint64_t count) {
    const auto taken = take(count);
    if (count > sizeof(int64_t)) return Value::Opaque{"a large integer", false};
    uint64_t value = count > 0 && (taken[count - 1] & std::byte{0x80}) != std::byte{0} ? ~uint64_t{0} : 0;
    for (size_t i = count; i > 0; --i) value = (value << 8) | std::to_integer<uint64_t>(taken[i - 1]);
    return static_cast<int64_t>(value);
  }

  // Lists, tuples, dicts, sets.
  bool container(unsigned char opcode) {
    switch (opcode) {
      case ']':
        push(List{});
        return true;
      case 'l':
        push(pop_to_mark());
        return true;
      case 'a':
        extend(pop_items(1));
        return true;
      case 'e':
        extend(pop_to_mark());
        return true;
      case ')':
        push(Value::Tuple{});
        return true;
      case 't':
        push(Value::Tuple{pop_to_mark()});
        return true;
      case 0x85:
        push(Value::Tuple{pop_items(1)});
        return true;
      case 0x86:
        push(Value::Tuple{pop_items(2)});
        return true;
      case 0x87:
        push(Value::Tuple{pop_items(3)});
        return true;
      case '}':
        push(Dict{});
        return true;
      case 'd': {
        const List items = pop_to_mark();
        push(Dict{});
        set_items(items);
        return true;
      }
      case 's':
        set_items(pop_items(2));
        return true;
      case 'u':
        set_items(pop_to_mark());
        return true;
      case 0x8F:
        push(List{});
        return true;  // EMPTY_SET
      case 0x90:
        extend(pop_to_mark());
        return true;  // ADDITEMS
      case 0x91:
        push(pop_to_mark());
        return true;  // FROZENSET
      default:
        return false;
    }
  }

  void extend(const List& items) {
    Value& target = top();
    if (auto* list = std::get_if<List>(&target.data)) {
      list->insert(list->end(), items.begin(), items.end());
    } else if (target.opaque() == nullptr) {
      fail("items are added to " + target.describe());
    }
  }

  void set_items(const List& items) {
    Value& target = top();
    if (items.size() % 2 != 0) fail("a key has no value");
    auto* dict = std::get_if<Dict>(&target.data);
    if (dict == nullptr && target.opaque() == nullptr) fail("keys are set in " + target.describe());
    if (dict == nullptr) return;
    for (size_t i = 0; i < items.size(); i += 2) dict->emplace_back(items[i], items[i + 1]);
  }

  // What names, calls or fills an object: data for Objects, never code.
  bool object(unsigned char opcode) {
    switch (opcode) {
      case 'c': {  // GLOBAL
        const std::string module = line();
        push(Value::Opaque{module + "." + line(), true});
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const Value& name = pop();
        const Value& module = pop();
        if (name.text() == nullptr || module.text() == nullptr) fail("a class without a name");
        if (name.text()->size() + module.text()->size() > 1000) fail("a class with too long a name");
        push(Value::Opaque{*module.text() + "." + *name.text(), true});
        return true;
      }
      case 'R':     // REDUCE
      case 0x81: {  // NEWOBJ
        const Value& arguments = pop();
        const Value& callable = pop();
        push(objects_.call(callable, arguments));
        return true;
      }
      case 0x92: {  // NEWOBJ_EX, with keywords
        pop();
        const Value& arguments = pop();
        const Value& callable = pop();
        push(objects_.call(callable, arguments));
        return true;
      }
      case 'b': {  // BUILD
        const Value& state = pop();
        objects_.set_state(top(), state);
        return true;
      }
      case 'Q': {  // BINPERSID
        const Value& id = pop();
        auto storage = load_storage_ ? load_storage_(id) : std::nullopt;
        if (storage) {
          push(std::move(*storage));
        } else {
          push(Value::Opaque{"a storage", false});
        }
        return true;
      }
      default:
        return false;
    }
  }

  const std::span<const std::byte> bytes_;
  const std::string& source_;
  const StorageLoader& load_storage_;
  size_t at_ = 0;
  Document document_;
  Objects objects_;
  std::vector<Value*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, Value*> memo_;
};

}  // namespace

Document parse(std::span<const std::byte> bytes, const std::string& source, const StorageLoader& load_storage) {
  return Machine(bytes, source, load_storage).run();
}

}  // namespace crisp::tensor::pickle
