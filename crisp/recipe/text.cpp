#include "crisp/recipe/text.h"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "crisp/base/error.h"
#include "crisp/base/text.h"
#include "crisp/recipe/built_in.h"
#include "crisp/recipe/fields.h"

namespace crisp::recipe {
namespace {

template <typename T>
concept Choice = std::is_enum_v<T>;

// --- a value as TOML has it

std::string written(bool value) { return value ? "true" : "false"; }
std::string written(int64_t value) { return std::to_string(value); }
std::string written(double value) { return fmt::format("{}", value); }
std::string written(const std::string& value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}
template <Choice Enum>
std::string written(Enum value) {
  for (const auto& [choice, word] : Words<Enum>::all()) {
    if (choice == value) return written(std::string(word));
  }
  return "\"\"";
}
template <typename T>
std::string written(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(written(value));
  return "[" + join(texts, ", ") + "]";
}

// --- what a value may be, for people

template <typename T>
std::string allowed(const Field& field, const T&) {
  if constexpr (Choice<T>) {
    std::vector<std::string> words;
    for (const auto& [choice, word] : Words<T>::all()) words.emplace_back(word);
    return ": " + join(words, ", ");
  } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
    if (field.least == -kNoLimit) return "";
    if (field.most == kNoLimit) return fmt::format("; at least {}", field.least);
    return fmt::format("; {} to {}", field.least, field.most);
  } else {
    return "";
  }
}

// --- and back. `where` begins every error.

struct Where {
  std::string path, source;  // source: empty, or the file
  const Field* field = nullptr;

  std::string text() const { return source.empty() ? path : source + ": " + path; }
};

std::string shown(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  return text.str();
}

[[noreturn]] void refuse(const Where& where, const toml::node& node, const std::string& what) {
  throw Error("{} = {}: it is {}", where.text(), shown(node), what);
}

void check_range(const Where& where, const toml::node& node, double value) {
  const Field& field = *where.field;
  if (std::isfinite(value) && value >= field.least && value <= field.most) return;
  const std::string unit = *field.unit == '\0' ? "" : fmt::format(" ({})", field.unit);
  if (field.most == kNoLimit) refuse(where, node, fmt::format("a number of at least {}{}", field.least, unit));
  refuse(where, node, fmt::format("a number from {} to {}{}", field.least, field.most, unit));
}

void take(const Where& where, const toml::node& node, bool& to) {
  if (const auto value = node.value_exact<bool>()) {
    to = *value;
  } else {
    refuse(where, node, "true or false");
  }
}

void take(const Where& where, const toml::node& node, int64_t& to) {
  const auto value = node.value_exact<int64_t>();
  if (!value) refuse(where, node, "a whole number");
  check_range(where, node, static_cast<double>(*value));
  to = *value;
}

void take(const Where& where, const toml::node& node, double& to) {
  if (!node.is_number()) refuse(where, node, "a number");
  const double value = *node.value<double>();
  check_range(where, node, value);
  to = value;
}

void take(const Where& where, const toml::node& node, std::string& to) {
  if (const auto value = node.value_exact<std::string>()) {
    to = *value;
  } else {
    refuse(where, node, "a text, in quotes");
  }
}

template <Choice Enum>
void take(const Where& where, const toml::node& node, Enum& to) {
  std::vector<std::string> known;
  const auto word = node.value_exact<std::string>();
  for (const auto& [choice, name] : Words<Enum>::all()) {
    known.emplace_back(name);
    if (word && *word == name) {
      to = choice;
      return;
    }
  }
  refuse(where, node, "one of " + join(known, ", "));
}

template <typename T>
void take(const Where& where, const toml::node& node, std::vector<T>& to) {
  std::vector<T> all;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& one : *list) take(where, one, all.emplace_back());
  } else {
    take(where, node, all.emplace_back());  // one value for a list of one
  }
  to = std::move(all);
}

// The known word that takes the fewest changes of letters, where those are few; else nothing.
std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = 4;
  for (const std::string& other : known) {
    std::vector<size_t> row(other.size() + 1);
    for (size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= word.size(); ++i) {
      size_t corner = row[0];
      row[0] = i;
      for (size_t j = 1; j < row.size(); ++j) {
        const size_t swapped = corner + (word[i - 1] != other[j - 1]);
        corner = row[j];
        row[j] = std::min({swapped, row[j] + 1, row[j - 1] + 1});
      }
    }
    if (row.back() < least) {
      least = row.back();
      best = other;
    }
  }
  return best;
}

void take_at(Recipe& recipe, const std::string& path, const std::string& source, const toml::node& node) {
  bool found = false;
  for_each_field(recipe, [&](const Field& field, auto& value) {
    if (path != field.path) return;
    found = true;
    take(Where{path, source, &field}, node, value);
  });
  if (found) return;
  std::vector<std::string> all;
  for_each_field(recipe, [&](const Field& field, auto&) { all.emplace_back(field.path); });
  const std::string hint = nearest(path, all);
  throw Error("{}: no field of a recipe{}", Where{path, source, nullptr}.text(),
              hint.empty() ? "" : "; is it " + hint + "?");
}

void take_table(Recipe& recipe, const toml::table& table, const std::string& prefix, const std::string& source) {
  for (const auto& [key, node] : table) {
    const std::string path = prefix + std::string(key.str());
    if (const toml::table* inner = node.as_table()) {
      take_table(recipe, *inner, path + ".", source);
    } else if (path == "about") {
      recipe.about = node.value_or(std::string());
    } else if (path != "base" && path != "name") {
      take_at(recipe, path, source, node);
    }
  }
}

toml::table parsed(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& problem) {
    throw Error("{}, line {}: {}", source, problem.source().begin.line, problem.description());
  }
}

}  // namespace

void set(Recipe& recipe, const std::string& path, const std::string& text) {
  toml::table table;
  try {
    table = toml::parse("value = " + text);
  } catch (const toml::parse_error&) {  // a word without quotes, or a list of such: A6, crf,par
    std::vector<std::string> words;
    for (const std::string& word : split(text, ',')) words.push_back(written(word));
    table = parsed("value = " + (words.size() == 1 ? words[0] : "[" + join(words, ", ") + "]"), path);
  }
  take_at(recipe, path, "", *table.get("value"));
}

std::string get(const Recipe& recipe, const std::string& path) {
  for (const auto& [name, value] : values(recipe)) {
    if (name == path) return value;
  }
  throw Error("{}: no field of a recipe", path);
}

std::vector<std::pair<std::string, std::string>> values(const Recipe& recipe) {
  std::vector<std::pair<std::string, std::string>> all;
  for_each_field(recipe, [&](const Field& field, const auto& value) { all.emplace_back(field.path, written(value)); });
  return all;
}

Recipe from_toml(const std::string& text, const std::string& source) {
  const toml::table table = parsed(text, source);
  Recipe recipe;
  if (const auto base = table["base"].value<std::string>()) recipe = built_in(*base);
  recipe.name = table["name"].value_or(source);
  take_table(recipe, table, "", source);
  return recipe;
}

std::string to_toml(const Recipe& recipe, bool comments) {
  std::string text = fmt::format("name = {}\n", written(recipe.name));
  if (!recipe.about.empty()) text += fmt::format("about = {}\n", written(recipe.about));
  std::string section;
  for_each_field(recipe, [&](const Field& field, const auto& value) {
    const std::string path = field.path;
    const size_t dot = path.rfind('.');
    if (path.substr(0, dot) != section) {
      section = path.substr(0, dot);
      text += fmt::format("\n[{}]\n", section);
    }
    if (comments) text += fmt::format("# {}\n", field.says);
    text += fmt::format("{} = {}\n", path.substr(dot + 1), written(value));
  });
  return text;
}

std::vector<Difference> difference(const Recipe& a, const Recipe& b) {
  std::vector<Difference> all;
  const auto left = values(a), right = values(b);
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].second != right[i].second) all.push_back({left[i].first, left[i].second, right[i].second});
  }
  return all;
}

void check(const Recipe& r) {
  const bool vit = r.encoder.arch.starts_with("vit");
  const auto need = [&](bool fine, const char* path, const char* what) {
    if (!fine) throw Error("{} = {}: {}", path, get(r, path), what);
  };
  need(vit || r.seeds.crossfit == 0, "seeds.crossfit",
       "it needs the tokens of a ViT (encoder.arch); the recipes voc12 and paper are for MiT");
  need(!vit || r.classify.mosaic == 0, "classify.mosaic", "a frozen ViT sees whole photos; it is 0 there");
  need(!vit || r.student.model.input_scale == 1, "model.input_scale",
       "a ViT sees every photo at one size; it is 1 there");
  for (const auto& [stage, schedule] :
       {std::pair{"classify", &r.classify.schedule}, {"student", &r.student.schedule}}) {
    if (schedule->epochs > 0 || schedule->photos > 0) continue;
    throw Error("{0}.schedule.epochs = 0: then {0}.schedule.photos says how many photos to look at, and it is 0",
                stage);
  }
  for (const auto& [stage, augment] : {std::pair{"classify", &r.classify.augment}, {"student", &r.student.augment}}) {
    if (augment->scale_low <= augment->scale_high) continue;
    throw Error("{0}.augment.scale_low = {1}: it is not above {0}.augment.scale_high, {2}", stage, augment->scale_low,
                augment->scale_high);
  }
  need(r.student.loss.cross_entropy > 0 || r.student.loss.dice > 0, "loss.cross_entropy",
       "it or loss.dice must be above 0: nothing else learns classes");
  need(!r.student.relabel.scales.empty(), "relabel.scales", "at least one scale is needed");
  const auto& chain = r.student.relabel.refine;
  need(std::find(chain.begin(), chain.end(), Refinement::kAffinity) == chain.end(), "relabel.refine",
       "it is a list of crf and par");
}

std::string part_of(const Recipe& recipe, const std::string& stage) {
  static const std::map<std::string, std::vector<std::string>> sections = {
      {"classify", {"encoder.", "classify."}},
      {"seeds", {"seeds."}},
      {"train", {"encoder.", "model.", "loss.", "phases.", "relabel.", "student."}}};
  const auto wanted = sections.find(stage);
  if (wanted == sections.end()) throw Error("no stage of a recipe is called {}", stage);
  std::string text;
  for (const auto& [path, value] : values(recipe)) {
    const bool shown_only = path.ends_with("checkpoint_every");  // decides nothing
    const bool part =
        std::ranges::any_of(wanted->second, [&](const std::string& prefix) { return path.starts_with(prefix); });
    if (part && !shown_only) text += path + " = " + value + "\n";
  }
  return text;
}

std::string options_page(const std::vector<Recipe>& recipes) {
  std::string page =
      "# What a recipe holds\n\nMade by `crispformer recipe options`; `make test` compares. Each field can be set in a "
      "recipe "
      "file, or on the command line with\n`--set PATH=VALUE`. Columns are the recipes built into the program "
      "(`crispformer recipe show NAME`).\n";
  std::string section;
  std::vector<std::vector<std::pair<std::string, std::string>>> columns;
  for (const Recipe& one : recipes) columns.push_back(values(one));
  size_t number = 0;
  for_each_field(recipes[0], [&](const Field& field, const auto& value) {
    const std::string path = field.path;
    if (path.substr(0, path.rfind('.')) != section) {
      section = path.substr(0, path.rfind('.'));
      page += fmt::format("\n## {}\n\n| field | what | ", section);
      std::string line = "| --- | --- |";
      for (const Recipe& one : recipes) {
        page += one.name + " | ";
        line += " --- |";
      }
      page += "\n" + line + "\n";
    }
    std::string says = field.says;
    if (*field.unit != '\0') says += fmt::format(" ({})", field.unit);
    page += fmt::format("| `{}` | {}{} |", path, says, allowed(field, value));
    for (const auto& column : columns) page += fmt::format(" {} |", column[number].second);
    page += "\n";
    ++number;
  });
  return page;
}

}  // namespace crisp::recipe
