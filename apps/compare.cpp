#include <fmt/format.h>

#include "apps/command_line.h"
#include "crisp/base/error.h"
#include "crisp/flow/evaluate_output.h"
#include "crisp/metric/json.h"
#include "crisp/report/terminal.h"

namespace crisp::apps {

int run_compare(const Arguments& arguments) {
  CommandLine line(
      "compare",
      "Compares two evaluations of the same images: each number's difference B - A with its 95% interval and "
      "p-value (paired bootstrap over images), and the classes and images that changed most.",
      "  crispformer compare scores/base scores/mine\n"
      "  crispformer compare scores/base scores/mine --out base-mine\n");
  std::string a, b;
  Path out;
  bool json = false;
  line.app.add_option("A", a, "output folder of `crispformer eval`")->required();
  line.app.add_option("B", b, "another one, of the same images")->required();
  line.app.add_option("--out", out, "folder for comparison.json and report.html");
  line.app.add_flag("--json", json, "the comparison for machines on stdout");
  if (!line.parse(arguments)) return 0;

  const flow::StoredEvaluation first = flow::read_evaluation(a), second = flow::read_evaluation(b);
  const metric::Comparison comparison = flow::compare_stored(first, second, line.threads);
  if (!out.empty()) {
    flow::write_comparison(comparison, first.classes, out, a, b,
                           {.title = fmt::format("{} against {}", b, a),
                            .command = as_typed("compare", arguments),
                            .config = line.effective_config()});
  }
  fmt::print("{}", json ? metric::to_json(comparison, first.classes) : report::to_text(comparison, first.classes));
  return 0;
}

}  // namespace crisp::apps
