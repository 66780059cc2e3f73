// The parser of command lines: reads options by tables, up to the first word that is none.
//
// The forms are --name value, --name=value, -n value and -nvalue; short options without a value may
// share a word: -ab.
// Single-threaded; tables and words outlive the reader. Wrong usage throws Error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

struct Setting;

enum class ProgramKind : std::uint8_t { kNone, kFile, kModule, kCommand, kStdin, kNative };

// A row of a table.
struct Option {
  std::vector<std::string> names;          // "-v", "--verbosity"; errors and callers know the last
  std::string wanted = {};                 // its value, in the words of an error
  std::size_t least = 0;                   // number of values
  std::size_t most = 0;                    // values at most; see may_take() for the further ones
  std::vector<std::string> accepted = {};  // values, in lower case; empty: any
  bool joined = false;                     // a value is in the same word, after =
  const Setting* setting = nullptr;        // the setting that its value sets
  std::string_view meant = {};             // the value where none is written
  ProgramKind program = ProgramKind::kNone;  // its value is the program, which ends the options
  bool of_python = false;                    // a flag of the interpreter

  const std::string& name() const { return names.back(); }
};

using OptionTable = std::vector<Option>;

struct OptionWords {
  const Option* option;
  std::string name;  // as it was written
  std::vector<std::string> values;
  bool opens_word = true;  // false: it follows another one in the same word
  bool attached = false;   // its value is in the same word, without =
};

// The options and their rules.
struct OptionGrammar {
  std::vector<const OptionTable*> tables;  // the first that knows a name has it
  std::string help;                        // "timeloom run --help"
  bool shortened = false;                  // the beginning of a long name will do, where one has it
};

class OptionReader {
 public:
  OptionReader(const OptionGrammar& grammar, std::span<const std::string> words)
      : grammar_(grammar), words_(words) {}

  // The next option; none at any other word (a name, - or --), and at the end.
  std::optional<OptionWords> next();
  // The words that were not read.
  std::span<const std::string> rest() const noexcept { return words_; }

 private:
  OptionWords read_word(const std::string& word);
  OptionWords read_short(const std::string& word);
  const Option* find(std::string_view name) const;
  const Option& find_shortened(const std::string& name) const;
  OptionWords taken(const Option& option, const std::string& name, const std::string* value);
  void take_values(OptionWords& words);
  bool may_take(const Option& option) const;
  [[noreturn]] void refuse(const std::string& name) const;

  const OptionGrammar& grammar_;
  std::span<const std::string> words_;
  std::string pending_;  // the options that are left of a word: "-bc" of -abc
};

}  // namespace timeloom
