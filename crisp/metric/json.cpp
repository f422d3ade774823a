#include "crisp/metric/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "crispformer image scores";
constexpr int kVersion = 1;
constexpr double kLargestNll = 28;  // -log(1e-12) and a little

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

// Bounds keep sums over any number of images and draws within 64 bits.
constexpr int64_t kMostPixels = int64_t{1} << 40;

int64_t count(const Json& json, int64_t most = kMostPixels) {
  const int64_t value = json.is_number_integer() ? json.get<int64_t>() : -1;
  if (value < 0 || value > most) throw Error("the count {} is not between 0 and {}", json.dump(), most);
  return value;
}

double sum(const Json& json, double low, double high) {
  const double value = json.get<double>();
  const double slack = 1e-6 * (1 + high - low);
  if (!(value >= low - slack && value <= high + slack)) throw Error("{} is not between {} and {}", value, low, high);
  return value;
}

std::optional<double> optional_number(const Json& json, double low, double high) {
  if (json.is_null()) return std::nullopt;
  return sum(json, low, high);
}

Json options_json(const Options& o) {
  return {{"classes", o.classes},
          {"ignore", o.ignore},
          {"boundary_tolerance", o.boundary_tolerance},
          {"boundary_diagonal", o.boundary_diagonal},
          {"band_diagonal", o.band_diagonal},
          {"ece_bins", o.ece_bins},
          {"small_object_pixels", o.small_object_pixels},
          {"shape_min_pixels", o.shape_min_pixels},
          {"bootstrap_draws", o.bootstrap_draws},
          {"seed", o.seed},
          {"boundary", o.boundary},
          {"shape", o.shape},
          {"small_objects", o.small_objects}};
}

Options read_options(const Json& json) {
  Options o;
  json.at("classes").get_to(o.classes);
  json.at("ignore").get_to(o.ignore);
  json.at("boundary_tolerance").get_to(o.boundary_tolerance);
  json.at("boundary_diagonal").get_to(o.boundary_diagonal);
  json.at("band_diagonal").get_to(o.band_diagonal);
  json.at("ece_bins").get_to(o.ece_bins);
  json.at("small_object_pixels").get_to(o.small_object_pixels);
  json.at("shape_min_pixels").get_to(o.shape_min_pixels);
  json.at("bootstrap_draws").get_to(o.bootstrap_draws);
  json.at("seed").get_to(o.seed);
  json.at("boundary").get_to(o.boundary);
  json.at("shape").get_to(o.shape);
  json.at("small_objects").get_to(o.small_objects);
  return o;
}

// Classes and bins are rows of numbers: with their keys they would be most of the file.
Json image_json(const ImageScores& image) {
  Json classes = Json::array(), bins = Json::array();
  for (const ClassScores& c : image.classes) {
    classes.push_back({c.label, c.truth, c.predicted, c.hit, c.band_common, c.band_union, number(c.boundary_f1)});
  }
  for (const ConfidenceBin& bin : image.bins) bins.push_back({bin.pixels, bin.correct, bin.confidence});
  return {{"name", image.name},
          {"classes", std::move(classes)},
          {"bins", std::move(bins)},
          {"probabilities", {image.probability_pixels, image.brier, image.nll}},
          {"tv_smoothness", number(image.tv_smoothness)},
          {"compactness", {image.compactness.masks, image.compactness.sum}},
          {"edge_regularity", {image.edge_regularity.masks, image.edge_regularity.sum}},
          {"small_objects", {image.small_objects, image.small_objects_found}}};
}

MaskSum read_sum(const Json& json) {
  const int64_t masks = count(json.at(0));
  return {masks, sum(json.at(1), 0, static_cast<double>(masks))};
}

ClassScores read_class(const Json& row, const Options& options) {
  ClassScores c;
  c.label = static_cast<int>(count(row.at(0), options.classes - 1));
  c.truth = count(row.at(1));
  c.predicted = count(row.at(2));
  c.hit = count(row.at(3), std::min(c.truth, c.predicted));
  c.band_union = count(row.at(5));
  c.band_common = count(row.at(4), c.band_union);
  c.boundary_f1 = optional_number(row.at(6), 0, 1);
  return c;
}

ImageScores read_image(const Json& json, const Options& options) {
  ImageScores image;
  json.at("name").get_to(image.name);
  for (const Json& row : json.at("classes")) {
    image.classes.push_back(read_class(row, options));
    const size_t last = image.classes.size() - 1;
    if (last > 0 && image.classes[last - 1].label >= image.classes[last].label) {
      throw Error("image {}: classes out of order", image.name);
    }
  }
  for (const Json& row : json.at("bins")) {
    const int64_t pixels = count(row.at(0));
    image.bins.push_back({pixels, count(row.at(1), pixels), sum(row.at(2), 0, static_cast<double>(pixels))});
  }
  if (!image.bins.empty() && image.bins.size() != static_cast<size_t>(options.ece_bins)) {
    throw Error("image {}: {} confidence bins instead of {}", image.name, image.bins.size(), options.ece_bins);
  }
  const Json& probabilities = json.at("probabilities");
  image.probability_pixels = count(probabilities.at(0));
  const double pixels = static_cast<double>(image.probability_pixels);
  image.brier = sum(probabilities.at(1), 0, options.classes * pixels);
  image.nll = sum(probabilities.at(2), 0, kLargestNll * pixels);
  image.tv_smoothness = optional_number(json.at("tv_smoothness"), -1, 1);
  image.compactness = read_sum(json.at("compactness"));
  image.edge_regularity = read_sum(json.at("edge_regularity"));
  image.small_objects = count(json.at("small_objects").at(0));
  image.small_objects_found = count(json.at("small_objects").at(1), image.small_objects);
  return image;
}

std::string dump(const Json& json, int indent) {
  try {
    return json.dump(indent);
  } catch (const Json::exception& problem) {  // the one possible reason: a name that is not UTF-8
    throw Error("a name cannot be written as JSON: {}; rename the file", problem.what());
  }
}

}  // namespace

std::string to_json(const Accumulator& accumulator) {
  Json images = Json::array();
  for (const auto& [name, image] : accumulator.images()) images.push_back(image_json(image));
  const Json whole = {{"format", kFormat},
                      {"version", kVersion},
                      {"options", options_json(accumulator.options())},
                      {"confusion", accumulator.confusion()},
                      {"images", std::move(images)}};
  return dump(whole, -1);
}

Accumulator accumulator_from_json(std::string_view text, const std::string& source) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != kFormat) throw Error("it does not hold image scores");
    if (json.at("version") != kVersion)
      throw Error("it has version {}, expected {}", json.at("version").dump(), kVersion);
    Accumulator accumulator(read_options(json.at("options")));
    for (const Json& image : json.at("images")) accumulator.add(read_image(image, accumulator.options()));
    accumulator.set_confusion(json.at("confusion").get<std::vector<std::vector<int64_t>>>());
    return accumulator;
  } catch (const Json::exception& problem) {
    throw Error("{}: not the image scores of an evaluation: {}", source, problem.what());
  } catch (const Error& problem) {
    throw Error("{}: not the image scores of an evaluation: {}", source, problem.what());
  }
}

std::string to_json(const Metrics& metrics, const ClassNames& names, int64_t skipped) {
  if (names.size() != metrics.per_class.size()) {
    throw Error("{} class names were given for {} classes", names.size(), metrics.per_class.size());
  }
  Json json;
  for (const HeadlineField& field : kHeadline) json[std::string(field.name)] = number(metrics.*field.value);
  Json intervals = Json::object();
  for (const HeadlineField& field : kHeadline) {
    const auto found = metrics.ci95.find(std::string(field.name));
    if (found != metrics.ci95.end()) intervals[found->first] = {found->second.low, found->second.high};
  }
  json["ci95"] = std::move(intervals);
  Json classes = Json::array();
  for (const ClassRow& row : metrics.per_class) {
    classes.push_back({{"name", names[static_cast<size_t>(row.label)]},
                       {"iou", number(row.iou)},
                       {"dice", number(row.dice)},
                       {"accuracy", number(row.accuracy)},
                       {"boundary_f1", number(row.boundary_f1)},
                       {"boundary_iou", number(row.boundary_iou)},
                       {"pixels", row.pixels}});
  }
  json["per_class"] = std::move(classes);
  Json curve = Json::array();
  for (const ReliabilityPoint& point : metrics.reliability) {
    curve.push_back({{"low", point.low},
                     {"high", point.high},
                     {"pixels", point.pixels},
                     {"confidence", number(point.confidence)},
                     {"accuracy", number(point.accuracy)}});
  }
  json["reliability"] = std::move(curve);
  json["images"] = metrics.images;
  json["skipped"] = skipped;
  json["protocol"] = metrics.protocol;
  return dump(json, 2) + "\n";
}

std::string to_json(const Comparison& comparison, const ClassNames& names) {
  Json numbers = Json::object(), classes = Json::array(), images = Json::array();
  for (const Difference& one : comparison.numbers) {
    numbers[one.name] = {{"a", one.a}, {"b", one.b}, {"difference", one.difference}, {"p_value", number(one.p_value)}};
    if (one.ci95) numbers[one.name]["ci95"] = {one.ci95->low, one.ci95->high};
  }
  for (const ClassChange& one : comparison.classes) {
    if (static_cast<size_t>(one.label) >= names.size()) throw Error("class {} has no name", one.label);
    classes.push_back({{"name", names[static_cast<size_t>(one.label)]},
                       {"iou_a", one.a},
                       {"iou_b", one.b},
                       {"difference", one.difference}});
  }
  for (const ImageChange& one : comparison.images_by_change) {
    images.push_back({{"name", one.name}, {"miou_a", one.a}, {"miou_b", one.b}, {"difference", one.difference}});
  }
  const Json whole = {{"images", comparison.images},
                      {"numbers", std::move(numbers)},
                      {"classes", std::move(classes)},
                      {"images_by_change", std::move(images)}};
  return dump(whole, 2) + "\n";
}

}  // namespace crisp::metric
