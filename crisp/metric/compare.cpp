#include "crisp/metric/compare.h"

#include <algorithm>
#include <cmath>

#include "crisp/base/error.h"
#include "crisp/base/parallel.h"
#include "crisp/base/text.h"
#include "crisp/metric/totals.h"

namespace crisp::metric {
namespace {

struct Pair {
  const ImageScores *a, *b;
};

std::vector<Pair> pair_images(const Accumulator& a, const Accumulator& b) {
  std::vector<Pair> pairs;
  std::vector<std::string> only_a, only_b;
  for (const auto& [name, image] : a.images()) {
    const auto other = b.images().find(name);
    if (other == b.images().end()) {
      only_a.push_back(name);
    } else {
      pairs.push_back({&image, &other->second});
    }
  }
  for (const auto& [name, image] : b.images()) {
    if (!a.images().contains(name)) only_b.push_back(name);
  }
  if (!only_a.empty() || !only_b.empty()) {
    std::string text;
    if (!only_a.empty()) text += fmt::format("; only in the first: {}", join_some(only_a));
    if (!only_b.empty()) text += fmt::format("; only in the second: {}", join_some(only_b));
    throw Error("the two evaluations are not of the same images{}", text);
  }
  return pairs;
}

// Which options may differ: how many draws and their seed (the first evaluation's are used), nothing else.
void check_options(Options a, const Options& b) {
  a.bootstrap_draws = b.bootstrap_draws;
  a.seed = b.seed;
  if (a == b) return;
  if (a.classes != b.classes) {
    throw Error("the two evaluations have {} and {} classes and cannot be compared", a.classes, b.classes);
  }
  throw Error("the two evaluations were made with different options (see `protocol`); evaluate both in the same way");
}

std::optional<double> two_sided(const std::vector<double>& differences) {
  if (differences.empty()) return std::nullopt;
  const auto above = std::count_if(differences.begin(), differences.end(), [](double d) { return d >= 0; });
  const auto below = std::count_if(differences.begin(), differences.end(), [](double d) { return d <= 0; });
  const double rarer = static_cast<double>(std::min(above, below));
  return std::min(1.0, 2 * (rarer + 1) / (static_cast<double>(differences.size()) + 1));
}

template <typename Change>
void sort_by_change(std::vector<Change>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& x, const Change& y) { return std::abs(x.difference) > std::abs(y.difference); });
}

}  // namespace

Comparison compare(const Accumulator& a, const Accumulator& b, int threads) {
  check_options(a.options(), b.options());
  const Options& options = a.options();
  const std::vector<Pair> pairs = pair_images(a, b);
  Comparison result;
  result.images = static_cast<int64_t>(pairs.size());

  Totals totals_a(options), totals_b(options);
  for (const Pair& pair : pairs) {
    totals_a.add(*pair.a);
    totals_b.add(*pair.b);
    const Headline one = image_headline(*pair.a, options), other = image_headline(*pair.b, options);
    if (!one.miou || !other.miou) continue;
    result.images_by_change.push_back({pair.a->name, *one.miou, *other.miou, *other.miou - *one.miou});
  }
  sort_by_change(result.images_by_change);

  for (size_t label = 0; label < totals_a.classes().size(); ++label) {
    const auto one = totals_a.classes()[label].iou(), other = totals_b.classes()[label].iou();
    if (!one || !other) continue;
    result.classes.push_back({static_cast<int>(label), 100 * *one, 100 * *other, 100 * (*other - *one)});
  }
  sort_by_change(result.classes);

  struct Draw {
    Headline a, b;
  };
  std::vector<Draw> draws(pairs.empty() ? 0 : static_cast<size_t>(options.bootstrap_draws));
  parallel_for(static_cast<int64_t>(draws.size()), threads > 0 ? threads : available_cores(), [&](int64_t draw) {
    const std::vector<int32_t> counts = draw_counts(options.seed, draw, pairs.size());
    Totals one(options), other(options);
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (counts[i] == 0) continue;
      one.add(*pairs[i].a, counts[i]);
      other.add(*pairs[i].b, counts[i]);
    }
    draws[static_cast<size_t>(draw)] = {one.headline(), other.headline()};
  });

  const Headline numbers_a = totals_a.headline(), numbers_b = totals_b.headline();
  for (const HeadlineField& field : kHeadline) {
    const auto one = numbers_a.*field.value, other = numbers_b.*field.value;
    if (!one || !other) continue;
    std::vector<double> differences;
    for (const Draw& draw : draws) {
      const auto x = draw.a.*field.value, y = draw.b.*field.value;
      if (x && y) differences.push_back(*y - *x);
    }
    Difference difference{std::string(field.name), *one, *other, *other - *one, {}, two_sided(differences)};
    difference.ci95 = interval95(std::move(differences));
    result.numbers.push_back(std::move(difference));
  }
  return result;
}

}  // namespace crisp::metric
