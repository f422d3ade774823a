#include "crisp/flow/ablate.h"

#include <algorithm>
#include <array>
#include <map>

#include "crisp/base/error.h"
#include "crisp/base/files.h"
#include "crisp/base/log.h"
#include "crisp/base/text.h"
#include "crisp/base/version.h"
#include "crisp/flow/ablation_grid.h"
#include "crisp/flow/bench.h"
#include "crisp/flow/evaluate_model.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/flow/run_folder.h"
#include "crisp/flow/training_setup.h"
#include "crisp/model/cost.h"
#include "crisp/model/load.h"

namespace crisp::flow {
namespace {

// The grid's own options: they choose among rows and change none.
constexpr std::array<std::string_view, 8> kOfTheGrid = {"table", "rows",    "runs",   "out",
                                                        "size",  "threads", "device", "quiet"};

std::string option_of(const std::string& line) { return line.substr(0, line.find('=')); }

// The command's configuration as one row has it: a table of seeds has several folders, a row learns from one.
std::string row_config(const std::string& config, const Path& seeds) {
  std::string text;
  for (const std::string& line : split_lines(config)) {
    text += (option_of(line) == "seeds" ? fmt::format("seeds=\"{}\"", seeds.string()) : line) + "\n";
  }
  return text;
}

// A table has one set of options: a row that was made with others must not stand in it.
void refuse_other_options(const Path& run, const std::string& config) {
  if (!std::filesystem::exists(run / "config.toml")) return;
  const auto options = [](const std::string& text) {
    std::map<std::string, std::string> values;
    for (const std::string& line : split_lines(text)) values[option_of(line)] = line.substr(line.find('=') + 1);
    for (const std::string_view name : kOfTheGrid) values.erase(std::string(name));
    return values;
  };
  const std::map<std::string, std::string> now = options(config);
  for (const auto& [name, value] : options(read_text(run / "config.toml"))) {
    const auto wanted = now.find(name);
    if (wanted == now.end() || wanted->second == value) continue;
    throw UsageError("--{} {}: {} was made with {}; take another --out, or remove that folder", name, wanted->second,
                     run.string(), value);
  }
}

class Grids {
 public:
  Grids(const AblateOptions& options, torch::Device device, const std::function<bool()>& stop)
      : options_(options),
        device_(device),
        stop_(stop),
        dataset_(data::open_dataset(options.student.data, {.lenient = true})),
        val_(held_out()) {}

  std::optional<report::AblationTable> run(const Grid& grid) {
    report::AblationTable table{grid.title, grid.note, {}, {}, options_.command, version(), commit()};
    for (const GridColumn& column : grid.columns) table.columns.push_back(column.column);
    for (const GridRow& row : grid.rows) {
      report::AblationRow cells{row.name, row.description, std::vector<std::vector<double>>(grid.columns.size()),
                                row.paper};
      for (int64_t number = 0; number < options_.runs; ++number) {
        const Path folder = options_.out / "runs" / fmt::format("{}-seed{}", row.key, number);
        log_info("{} {}, run {} of {}", grid.title, row.name, number + 1, options_.runs);
        if (!train(row, number, folder)) return std::nullopt;
        for (size_t c = 0; c < grid.columns.size(); ++c) {
          const metric::Metrics metrics = measure(folder, grid.columns[c]);
          if (const auto value = metrics.*(grid.columns[c].value)) cells.runs[c].push_back(*value);
        }
      }
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

 private:
  std::string held_out() const {
    const std::string split = held_out_split(dataset_, options_.val, options_.student.split);
    if (!split.empty()) return split;
    throw Error("{}: no split to measure on; name one with --val", options_.student.data.string());
  }

  bool train(const GridRow& row, int64_t number, const Path& folder) const {
    StudentOptions o = options_.student;
    if (!options_.seed_folders.empty()) o.seeds = options_.seed_folders[0].second;
    row.change(o);
    o.config = row_config(options_.config, o.seeds);
    o.resume = is_run_folder(folder);
    if (o.resume) {
      refuse_other_options(folder, o.config);
      if (read_run(folder).complete) return true;
    }
    o.out = folder;
    o.val = "none";  // the split is measured once, at the end
    o.task.seed = o.trainer.seed = static_cast<uint64_t>(number);
    o.command = options_.command;
    return train_student(o, device_, stop_).complete;
  }

  metric::Metrics measure(const Path& folder, const GridColumn& column) const {
    const Path out = folder / (column.on_train ? "eval_train" : column.multi_scale ? "eval_ms" : "eval");
    if (!std::filesystem::exists(out / "scores.json")) {
      infer::InferOptions how;
      if (column.multi_scale) how = {.scales = {0.5, 0.75, 1, 1.25, 1.5}, .flip = true};
      infer::Predictor predictor(model::load_segmenter(folder), device_, torch::kFloat, how);
      const Truth truth = truth_from_dataset(dataset_, column.on_train ? options_.student.split : val_);
      const Evaluation evaluation =
          evaluate_model(predictor, truth, {.certainty = !column.multi_scale, .out = out, .workers = options_.threads});
      write_evaluation(evaluation, finish(evaluation, options_.threads), out,
                       {folder.filename().string(), options_.command, options_.config});
    }
    return read_evaluation(out).scores.finish(options_.threads);
  }

  const AblateOptions& options_;
  const torch::Device device_;
  const std::function<bool()>& stop_;
  const data::Dataset dataset_;
  const std::string val_;
};

// The rows that were asked for, in the table's order.
Grid chosen_rows(Grid grid, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return grid;
  std::vector<std::string> names;
  for (const GridRow& row : grid.rows) names.push_back(row.name);
  for (const std::string& name : wanted) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError("--rows {}: the table has {}", name, join(names, ", "));
    }
  }
  std::erase_if(grid.rows,
                [&](const GridRow& row) { return std::find(wanted.begin(), wanted.end(), row.name) == wanted.end(); });
  return grid;
}

// Parameters, arithmetic and time of each component row; nothing is trained.
report::AblationTable cost_table(const AblateOptions& o, torch::Device device) {
  using report::Better;
  report::AblationTable table{
      "Cost",
      fmt::format("{} at {}x{}, one pass. The paper's figures are for MiT-B5, FP16, on an RTX 6000 Ada; theirs.",
                  o.student.arch, o.size, o.size),
      {{"parameters", "M", Better::kLower, 2},
       {"arithmetic", "GMAC", Better::kLower, 2},
       {"time", "ms", Better::kLower, 2}},
      {},
      o.command,
      version(),
      commit()};
  const std::vector<std::tuple<const char*, const char*, std::vector<std::optional<double>>>> rows = {
      {"A0", "SegFormer head", {82.1, 84.6, 17.4}},
      {"A1", "+ dynamic fusion", {}},
      {"A2", "+ variance head", {}},
      {"A3", "+ refiner", {}},
      {"A4", "+ boundary head", {}},
      {"A5", "+ modulation", {82.8, 86.1, 17.7}}};
  for (const auto& [name, what, paper] : rows) {
    model::SegmenterConfig config;
    config.encoder = model::encoder_config(o.student.arch);
    const int64_t width = o.student.width > 0 ? o.student.width : model::default_width(o.student.arch);
    config.head = model::ablation_row(name, width, 21);
    config.classes = voc_classes();
    model::Segmenter network(config);
    const model::PartCost cost = model::total_of(model::cost_of(network, o.size, o.size));
    const BenchReport timed = bench({.arch = o.student.arch,
                                     .ablation = name,
                                     .width = width,
                                     .size = o.size,
                                     .dtype = device.is_cuda() ? torch::kHalf : torch::kFloat,
                                     .device = device,
                                     .network_only = true});
    table.rows.push_back({name,
                          what,
                          {{static_cast<double>(cost.parameters) / 1e6},
                           {static_cast<double>(cost.macs) / 1e9},
                           {timed.network.median_ms}},
                          paper});
  }
  return table;
}

}  // namespace

std::optional<report::AblationTable> ablate(const AblateOptions& options, torch::Device device,
                                            const std::function<bool()>& stop) {
  std::optional<report::AblationTable> table;
  if (options.table == "cost") {
    table = cost_table(options, device);
  } else {
    if (options.table == "seeds" && options.seed_folders.size() < 2) {
      throw UsageError("--table seeds compares seed folders: give several, as --seeds crf=DIR --seeds par=DIR");
    }
    table = Grids(options, device, stop).run(chosen_rows(grid_of(options.table, options.seed_folders), options.rows));
  }
  if (!table) return table;
  make_folder(options.out);
  write_atomic(options.out / "config.toml", options.config);
  write_atomic(options.out / (options.table + ".md"), report::to_markdown(*table));
  write_atomic(options.out / (options.table + ".csv"), report::to_csv(*table));
  write_atomic(options.out / (options.table + ".html"), report::to_html(*table));
  return table;
}

}  // namespace crisp::flow
