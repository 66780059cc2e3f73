// The options and the help of one command of the program. CLI11 parses them; only this class and
// main.cpp include it, since it takes as long to compile as all the rest of a command.
//
// Used by the main thread. REQUIRES of every function: what it fills outlives the program's
// App. A word that an option does not take is wrong usage: main.cpp prints one line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/text/terminal.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace timeloom::tools {

class CommandOptions {
 public:
  // Adds the command `name` to the program.
  CommandOptions(CLI::App& program, const std::string& name, const std::string& help);

  CLI::App* app() const noexcept { return app_; }
  // Leaves the command out of the program's help.
  void hide();
  // Ends the help of the command, in place of the program's exit statuses.
  void footer(const std::string& text);

  // Words without an option: one that must be given, one that may be missing, and any number of
  // words.
  void positional(const std::string& name, std::string& value, const std::string& help);
  void positional(const std::string& name, std::optional<std::string>& value,
                  const std::string& help);
  void positional(const std::string& name, std::vector<std::string>& values,
                  const std::string& help);
  // RUN, without which the newest run of the folder is meant.
  void run(std::optional<std::string>& value);

  void flag(const std::string& name, bool& value, const std::string& help);
  // Options for other programs, which the help leaves out.
  void hidden_flag(const std::string& name, bool& value);
  void hidden_text(const std::string& name, std::string& value);
  void hidden_count(const std::string& name, std::optional<std::uint32_t>& value);
  // Refuses a command line with both. REQUIRES: both are known already.
  void exclude(const std::string& flag, const std::string& other);

  // `unit` is what the help shows in the place of the value.
  void text(const std::string& name, const std::string& unit, std::string& value,
            const std::string& help);
  // Can be repeated; one word each time.
  void texts(const std::string& name, const std::string& unit, std::vector<std::string>& values,
             const std::string& help);

  // The numbers from `least` to `most`; `what` describes them in error messages. `value` stays
  // empty without the option.
  struct Range {
    double least;
    double most;
    std::string what;
  };
  void number(const std::string& name, const std::string& unit, std::optional<double>& value,
              const Range& range, const std::string& help);
  // A whole number of the range.
  void count(const std::string& name, const std::string& unit, std::optional<std::uint32_t>& value,
             const Range& range, const std::string& help);

  // One of some words, each with what it stands for. REQUIRES: `words` outlives the App.
  template <typename Target, typename Value>
  void choice(const std::string& name, Target& target, const std::map<std::string, Value>& words,
              const std::string& help) {
    std::vector<std::string> names;
    for (const auto& [word, value] : words) names.push_back(word);
    const auto take = [&target, &words](const std::string& word) { target = words.at(word); };
    one_of(name, names, take, help);
  }
  // --color.
  void colour(ColourMode& mode);

 private:
  void one_of(const std::string& name, const std::vector<std::string>& words,
              const std::function<void(const std::string& word)>& take, const std::string& help);

  CLI::App* app_;  // owned by the program's App
};

// The words that an option of choice() takes; empty for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace timeloom::tools
