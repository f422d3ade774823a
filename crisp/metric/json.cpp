#include "crisp/metric/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"

namespace crisp::metric {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "crispformer image scores";
constexpr int kVersion = 1;

Json number(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

std::optional<double> optional_number(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return json.get<double>();
}

int64_t count(const Json& json) {
  const int64_t value = json.is_number_integer() ? json.get<int64_t>() : -1;
  if (value < 0) throw Error("a count is {}", json.dump());
  return value;
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

MaskSum read_sum(const Json& json) { return {count(json.at(0)), json.at(1).get<double>()}; }

ImageScores read_image(const Json& json, const Options& options) {
  ImageScores image;
  json.at("name").get_to(image.name);
  int before = -1;
  for (const Json& row : json.at("classes")) {
    ClassScores c{static_cast<int>(count(row.at(0))),
                  count(row.at(1)),
                  count(row.at(2)),
                  count(row.at(3)),
                  count(row.at(4)),
                  count(row.at(5)),
                  optional_number(row.at(6))};
    if (c.label <= before || c.label >= options.classes || c.hit > c.truth || c.hit > c.predicted ||
        c.band_common > c.band_union) {
      throw Error("image {}: counts of class {} contradict each other", image.name, c.label);
    }
    before = c.label;
    image.classes.push_back(c);
  }
  for (const Json& row : json.at("bins")) {
    image.bins.push_back({count(row.at(0)), count(row.at(1)), row.at(2).get<double>()});
  }
  if (!image.bins.empty() && image.bins.size() != static_cast<size_t>(options.ece_bins)) {
    throw Error("image {}: {} confidence bins instead of {}", image.name, image.bins.size(), options.ece_bins);
  }
  const Json& probabilities = json.at("probabilities");
  image.probability_pixels = count(probabilities.at(0));
  image.brier = probabilities.at(1).get<double>();
  image.nll = probabilities.at(2).get<double>();
  image.tv_smoothness = optional_number(json.at("tv_smoothness"));
  image.compactness = read_sum(json.at("compactness"));
  image.edge_regularity = read_sum(json.at("edge_regularity"));
  image.small_objects = count(json.at("small_objects").at(0));
  image.small_objects_found = count(json.at("small_objects").at(1));
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

}  // namespace crisp::metric
