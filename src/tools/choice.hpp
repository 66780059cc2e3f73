// Options that take one of a few words, or a number in a range. Used by the main
// thread.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "tools/terminal.hpp"

namespace timeloom::tools {

// Adds the option; any other word is wrong usage. REQUIRES: `words` outlives the App.
template <typename Target, typename Value>
void add_choice(CLI::App& app, const std::string& name, Target& target,
                const std::map<std::string, Value>& words, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&target, &words, name](const std::string& word) {
           const auto found = words.find(word);
           if (found != words.end()) {
             target = found->second;
             return;
           }
           std::string all;
           for (const auto& [known, value] : words) all += (all.empty() ? "" : ", ") + known;
           throw CLI::ValidationError(name, "'" + word + "' is none of " + all);
         },
         help)
      ->type_name("WORD");
}

// Checks that a word is a number from `least` to `most`.
inline CLI::Validator number_between(double least, double most, const std::string& what) {
  const auto check = [least, most, what](const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    const bool good = end != word.c_str() && *end == '\0' && value >= least && value <= most;
    return good ? std::string() : "'" + word + "' is not " + what;
  };
  return CLI::Validator(check, "");
}

// Options of several commands: the run, and the use of colour.
inline void add_run(CLI::App& app, std::optional<std::string>& run) {
  app.add_option("RUN", run,
                 "Run directory, OTF2 archive or CUBE profile (default: the newest run here)")
      ->type_name("");
}

inline void add_colour(CLI::App& app, ColourMode& mode) {
  static const std::map<std::string, ColourMode> kModes = {
      {"auto", ColourMode::kAuto}, {"always", ColourMode::kAlways}, {"never", ColourMode::kNever}};
  add_choice(app, "--color", mode, kModes, "auto (default), always or never");
}

}  // namespace timeloom::tools
