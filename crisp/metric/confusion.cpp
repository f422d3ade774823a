#include "crisp/metric/confusion.h"

#include <cstring>
#include <limits>

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

constexpr uint64_t kEveryByte = 0x0101010101010101ull;

// Rows (or columns) of the table for the 256 possible labels: classes, then K for ignored or unlabelled,
// then K + 1 for labels that must not occur.
std::array<uint16_t, 256> slots(const Options& options, bool truth) {
  std::array<uint16_t, 256> slot{};
  for (int label = 0; label < 256; ++label) {
    int value = label < options.classes ? label : options.classes + 1;
    if (truth && label == options.ignore) value = options.classes;
    if (!truth && label >= options.classes && (label == options.ignore || label == image::kIgnore)) {
      value = options.classes;
    }
    slot[static_cast<size_t>(label)] = static_cast<uint16_t>(value);
  }
  return slot;
}

[[noreturn]] void refuse(const std::string& name, const char* what, const image::Mask& mask,
                         const std::array<uint16_t, 256>& slot, const Options& options) {
  for (int y = 0; y < mask.height; ++y) {
    for (int x = 0; x < mask.width; ++x) {
      const int label = mask.row(y)[x];
      if (slot[static_cast<size_t>(label)] != options.classes + 1) continue;
      throw Error("{}: the {} has label {} at x={} y={}, but there are {} classes (0 to {}){}; check the class list",
                  name, what, label, x, y, options.classes, options.classes - 1,
                  options.ignore < 0 ? std::string(" and nothing is ignored")
                                     : fmt::format(" and {} is ignored", options.ignore));
    }
  }
  throw Error("{}: the {} has a label outside the {} classes", name, what, options.classes);
}

}  // namespace

int64_t Confusion::truth_pixels(int label) const {
  int64_t sum = 0;
  for (int column = 0; column <= classes_; ++column) sum += at(label, column);
  return sum;
}

int64_t Confusion::predicted_pixels(int label) const {
  int64_t sum = 0;
  for (int row = 0; row < classes_; ++row) sum += at(row, label);
  return sum;
}

void Confusion::add(const Confusion& more) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.counts_[i];
}

double Confusion::mean_iou() const {
  double sum = 0;
  int occurring = 0;
  for (int k = 0; k < classes_; ++k) {
    const int64_t truth = truth_pixels(k), both = at(k, k);
    if (truth == 0) continue;
    sum += static_cast<double>(both) / static_cast<double>(truth + predicted_pixels(k) - both);
    ++occurring;
  }
  return occurring == 0 ? 0 : 100 * sum / occurring;
}

Confusion count_confusion(const std::string& name, const image::Mask& truth, const image::Mask& prediction,
                          const Options& options) {
  const auto truth_slot = slots(options, true), predicted_slot = slots(options, false);
  const size_t side = static_cast<size_t>(options.classes) + 2;
  std::vector<int64_t> table(side * side);

  // Masks are mostly flat: eight pixels that share both labels are counted at once.
  const uint8_t *t = truth.labels.data(), *p = prediction.labels.data();
  const size_t count = truth.labels.size();
  const auto cell = [&](size_t i) -> int64_t& { return table[truth_slot[t[i]] * side + predicted_slot[p[i]]]; };
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight_truths, eight_predictions;
    std::memcpy(&eight_truths, t + i, 8);
    std::memcpy(&eight_predictions, p + i, 8);
    if (eight_truths == t[i] * kEveryByte && eight_predictions == p[i] * kEveryByte) {
      cell(i) += 8;
    } else {
      for (size_t j = i; j < i + 8; ++j) ++cell(j);
    }
  }
  for (; i < count; ++i) ++cell(i);

  for (size_t j = 0; j < side; ++j) {
    if (table[(side - 1) * side + j] != 0) refuse(name, "truth", truth, truth_slot, options);
    if (table[j * side + side - 1] != 0) refuse(name, "prediction", prediction, predicted_slot, options);
  }
  Confusion confusion(options.classes);
  for (int row = 0; row <= options.classes; ++row) {
    for (int column = 0; column <= options.classes; ++column) {
      confusion.at(row, column) = table[static_cast<size_t>(row) * side + static_cast<size_t>(column)];
    }
  }
  return confusion;
}

}  // namespace crisp::metric
