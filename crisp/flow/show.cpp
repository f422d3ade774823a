#include "crisp/flow/show.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crisp/base/error.h"
#include "crisp/base/log.h"
#include "crisp/base/parallel.h"
#include "crisp/base/version.h"
#include "crisp/data/dataset.h"
#include "crisp/data/loader.h"
#include "crisp/data/seed_folder.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/seeds.h"
#include "crisp/image/decode.h"
#include "crisp/image/heat_map.h"
#include "crisp/infer/predictor.h"
#include "crisp/model/load.h"
#include "crisp/report/contact_sheet.h"
#include "crisp/seed/make_seeds.h"

namespace crisp::flow {
namespace {

// What the sheet is made from; parts that do not apply are empty.
struct Source {
  std::string kind;
  Path data;
  std::string split;
  std::optional<data::SeedFolder> seeds;
  std::optional<seed::CamMaker> cams;
  std::optional<infer::Predictor> student;
  std::vector<std::pair<std::string, std::string>> facts;
};

void add_classifiers(Source& source, const std::vector<Path>& files, const seed::CamOptions& options,
                     torch::Device device) {
  try {
    source.cams.emplace(load_classifiers(files), device, torch::kFloat, options);
  } catch (const Error& problem) {
    log_warning("no activation maps on the sheet: {}", problem.what());
  }
}

Source seed_source(const ShowOptions& options, torch::Device device) {
  Source source{.kind = "Seeds", .seeds = data::SeedFolder(options.what, true)};
  const data::SeedFacts& facts = source.seeds->facts();
  source.data = facts.data;
  source.split = facts.split;
  source.facts = {{"made by", facts.made_by}, {"seeds", std::to_string(facts.images)}};
  const auto json = nlohmann::ordered_json::parse(facts.options);
  for (const auto& [name, value] : json.items()) {
    if (!value.is_object())
      source.facts.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  if (options.cams && json.contains("classifier")) {
    seed::CamOptions cam{.scales = {},
                         .flip = json.value("flip", true),
                         .multiple = json.value("multiple", 32),
                         .similarity = json.value("similarity", 0.0),
                         .similarity_rounds = json.value("similarity_rounds", 1)};
    if (json["scales"].is_array()) cam.scales = json["scales"].get<std::vector<double>>();
    const auto& named = json["classifier"];  // one or several
    const auto files = named.is_array() ? named.get<std::vector<std::string>>() : std::vector{named.get<std::string>()};
    add_classifiers(source, {files.begin(), files.end()}, cam, device);
  }
  return source;
}

Source run_source(const ShowOptions& options, torch::Device device) {
  const RunFacts facts = read_run(options.what);
  Source source{.kind = "Run", .data = facts.data, .split = facts.split};
  source.facts = {{"task", facts.task}, {"made by", facts.command}, {"complete", facts.complete ? "yes" : "no"}};
  if (facts.task == "classify") {
    add_classifiers(source, {options.what}, {}, device);
  } else if (facts.task == "segment") {
    source.student.emplace(model::load_segmenter(options.what), device, torch::kFloat, infer::InferOptions{});
  } else {
    throw Error("{}: a run of '{}' has nothing to look at", options.what.string(), facts.task);
  }
  return source;
}

Source open_source(const ShowOptions& options, torch::Device device) {
  Source source = data::is_seed_folder(options.what) ? seed_source(options, device)
                  : is_run_folder(options.what)      ? run_source(options, device)
                                                     : Source{.kind = "Data", .data = options.what, .split = "all"};
  if (!options.data.empty()) source.data = options.data;
  if (!options.split.empty()) source.split = options.split;
  return source;
}

image::Mask levels(const torch::Tensor& map) {
  const torch::Tensor plain = map.contiguous();
  const float* data = plain.const_data_ptr<float>();
  return image::to_levels({data, data + plain.numel()}, static_cast<int>(plain.size(1)),
                          static_cast<int>(plain.size(0)));
}

report::SheetRow make_row(Source& source, const data::Dataset& dataset, const data::Sample& sample) {
  const image::Image photo = image::read_image(sample.image);
  report::SheetRow row{.name = sample.id, .tags = {}, .note = sample.has_tags ? "" : "no tags", .pictures = {}};
  for (const int tag : sample.tags) row.tags.push_back(dataset.classes[static_cast<size_t>(tag)]);
  row.pictures.push_back(report::sheet_photo("Photo", photo));
  if (sample.has_mask()) row.pictures.push_back(report::sheet_labels("Truth", photo, dataset.read_mask(sample)));
  if (source.cams && sample.has_tags && !sample.tags.empty()) {
    const image::Image small = seed::working_size(photo, seed::SeedOptions().max_side);
    const seed::Cams cams = source.cams->run({small}, {sample.tags})[0];
    std::vector<float> most(cams.pixels());
    for (size_t i = 0; i < cams.maps.size(); ++i) {
      most[i % cams.pixels()] = std::max(most[i % cams.pixels()], cams.maps[i]);
    }
    row.pictures.push_back(
        report::sheet_activation("Activation", small, image::to_levels(most, cams.width, cams.height)));
  }
  if (source.seeds && source.seeds->has(sample.id)) {
    const data::Seed seed = source.seeds->read(sample.id);
    row.pictures.push_back(report::sheet_labels("Seed", photo, seed.labels));
    row.pictures.push_back(report::sheet_levels("Uncertainty", seed.uncertainty));
  }
  if (source.student) {
    const infer::Result result = source.student->run({photo})[0];
    row.pictures.push_back(report::sheet_labels("Prediction", photo, result.labels));
    row.pictures.push_back(report::sheet_levels("Uncertainty", levels(result.uncertainty)));
  }
  return row;
}

}  // namespace

size_t show(const ShowOptions& options, torch::Device device) {
  if (!std::filesystem::exists(options.what)) throw Error("{}: no such folder", options.what.string());
  Source source = open_source(options, device);
  const data::Dataset dataset = data::open_dataset(
      source.data, {.only_split = source.split == "all" ? "" : source.split, .seed = options.seed, .lenient = true});
  std::vector<data::Sample> samples = dataset.samples(source.split);
  if (source.seeds) {
    std::erase_if(samples, [&](const data::Sample& sample) { return !source.seeds->has(sample.id); });
    if (samples.empty()) throw Error("{}: no seed of a photo of {}", options.what.string(), source.data.string());
  }
  const std::vector<size_t> order = data::shuffled(samples.size(), Rng(options.seed));
  const size_t count = std::min(samples.size(), static_cast<size_t>(std::max<int64_t>(1, options.images)));

  report::SheetPage page;
  const std::string name = options.what.lexically_normal().generic_string();
  page.title = fmt::format("{}: {}", source.kind, name);
  page.lead = fmt::format("{} of {} photos, chosen at random (--seed {}).", count, samples.size(), options.seed);
  page.facts = source.facts;
  page.facts.insert(page.facts.begin(), {"data", fmt::format("{}, {}", source.data.string(), source.split)});
  page.classes = dataset.classes;
  page.command = options.command;
  page.version = version();
  page.commit = commit();
  for (size_t i = 0; i < count; ++i) {
    try {
      page.rows.push_back(make_row(source, dataset, samples[order[i]]));
    } catch (const Error& problem) {
      log_warning("left out {}", problem.what());
    }
  }
  if (page.rows.empty()) throw Error("{}: not one photo can be shown", source.data.string());
  if (options.out.has_parent_path()) make_folder(options.out.parent_path());
  write_atomic(options.out, report::contact_sheet(page));
  return page.rows.size();
}

}  // namespace crisp::flow
