#include "tools/command_options.hpp"

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/text/joined.hpp"

namespace timeloom::tools {

namespace {

// An option whose word `take` accepts, or refuses with a text.
using Take = std::function<std::string(const std::string& word)>;

CLI::Option* add(CLI::App& app, const std::string& name, const std::string& unit, const Take& take,
                 const std::string& help) {
  const auto call = [name, take](const std::string& word) {
    const std::string wrong = take(word);
    if (!wrong.empty()) throw CLI::ValidationError(name, "'" + word + "' is " + wrong);
  };
  return app.add_option_function<std::string>(name, call, help)->type_name(unit);
}

// CLI11 has no place for them.
std::map<const CLI::Option*, std::vector<std::string>>& known_choices() {
  static std::map<const CLI::Option*, std::vector<std::string>> choices;
  return choices;
}

std::optional<double> number_in(const CommandOptions::Range& range, const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0') return {};
  if (!(value >= range.least && value <= range.most)) return {};
  return value;
}

}  // namespace

CommandOptions::CommandOptions(CLI::App& program, const std::string& name, const std::string& help)
    : app_(program.add_subcommand(name, help)) {}

void CommandOptions::hide() { app_->group(""); }

void CommandOptions::footer(const std::string& text) { app_->footer(text); }

void CommandOptions::positional(const std::string& name, std::string& value,
                                const std::string& help) {
  app_->add_option(name, value, help)->required()->type_name("");
}

void CommandOptions::positional(const std::string& name, std::optional<std::string>& value,
                                const std::string& help) {
  app_->add_option(name, value, help)->type_name("");
}

void CommandOptions::positional(const std::string& name, std::vector<std::string>& values,
                                const std::string& help) {
  app_->add_option(name, values, help)->type_name("");
}

void CommandOptions::run(std::optional<std::string>& value) {
  positional("RUN", value,
             "Run directory, OTF2 archive or CUBE profile (default: the newest run here)");
}

void CommandOptions::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

void CommandOptions::hidden_flag(const std::string& name, bool& value) {
  app_->add_flag(name, value)->group("");
}

void CommandOptions::hidden_text(const std::string& name, std::string& value) {
  app_->add_option(name, value)->group("");
}

void CommandOptions::hidden_count(const std::string& name, std::optional<std::uint32_t>& value) {
  app_->add_option(name, value)->group("");
}

void CommandOptions::exclude(const std::string& flag, const std::string& other) {
  app_->get_option(flag)->excludes(app_->get_option(other));
}

void CommandOptions::text(const std::string& name, const std::string& unit, std::string& value,
                          const std::string& help) {
  app_->add_option(name, value, help)->type_name(unit);
}

void CommandOptions::texts(const std::string& name, const std::string& unit,
                           std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help)->type_name(unit)->allow_extra_args(false);
}

void CommandOptions::number(const std::string& name, const std::string& unit,
                            std::optional<double>& value, const Range& range,
                            const std::string& help) {
  const auto take = [&value, range](const std::string& word) {
    value = number_in(range, word);
    return value ? "" : "not " + range.what;
  };
  add(*app_, name, unit, take, help);
}

void CommandOptions::count(const std::string& name, const std::string& unit,
                           std::optional<std::uint32_t>& value, const Range& range,
                           const std::string& help) {
  const auto take = [&value, range](const std::string& word) {
    const std::optional<double> number = number_in(range, word);
    if (!number || std::floor(*number) != *number) return "not " + range.what;
    value = static_cast<std::uint32_t>(*number);
    return std::string();
  };
  add(*app_, name, unit, take, help);
}

void CommandOptions::colour(ColourMode& mode) {
  static const std::map<std::string, ColourMode> kModes = {
      {"auto", ColourMode::kAuto}, {"always", ColourMode::kAlways}, {"never", ColourMode::kNever}};
  choice("--color", mode, kModes, "auto (default), always or never");
}

void CommandOptions::one_of(const std::string& name, const std::vector<std::string>& words,
                            const std::function<void(const std::string& word)>& take,
                            const std::string& help) {
  const auto take_known = [words, take](const std::string& word) {
    if (std::ranges::find(words, word) != words.end()) {
      take(word);
      return std::string();
    }
    return "none of " + joined(words);
  };
  known_choices()[add(*app_, name, "WORD", take_known, help)] = words;
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const auto found = known_choices().find(&option);
  return found == known_choices().end() ? std::vector<std::string>() : found->second;
}

}  // namespace timeloom::tools
