#include "settings/command_line.hpp"

#include <string_view>

#include "core/error.hpp"

namespace timeloom {
namespace {

// The options that python accepts before the program, without those that end python (-V, -h).
constexpr std::string_view kPlainFlags = "bBdEiIOPqRsSuvx";
constexpr std::string_view kValueFlags = "WX";
constexpr std::string_view kPycsFlag = "--check-hash-based-pycs";

// Walks over the words of a command line.
class Words {
 public:
  explicit Words(std::span<const std::string> words) : words_(words) {}
  bool done() const { return next_ == words_.size(); }
  const std::string& take() { return words_[next_++]; }
  const std::string& value_for(const std::string& option, std::string_view meaning) {
    if (done()) {
      throw Error(option + " needs a value: " + std::string(meaning));
    }
    return take();
  }
  std::vector<std::string> rest() const {
    const auto left = words_.subspan(next_);
    return {left.begin(), left.end()};
  }

 private:
  std::span<const std::string> words_;
  std::size_t next_ = 0;
};

class Parser {
 public:
  Parser(std::span<const std::string> arguments, InterpreterFlags flags)
      : words_(arguments), flags_(flags) {}

  CommandLine parse() {
    while (!words_.done() && line_.kind == ProgramKind::kNone && !line_.help && !line_.version) {
      const std::string& word = words_.take();
      if (word == "--") {
        parse_after_dashes();
      } else if (word == "-") {
        set_program(ProgramKind::kStdin, word);
      } else if (word.starts_with("--")) {
        parse_long(word);
      } else if (word.starts_with('-')) {
        parse_short(word);
      } else {
        set_program(ProgramKind::kFile, word);
      }
    }
    return std::move(line_);
  }

 private:
  void set_program(ProgramKind kind, const std::string& target) {
    line_.kind = kind;
    line_.target = target;
    line_.arguments = words_.rest();
  }

  void set_native_program(const std::string& program) {
    if (flags_ == InterpreterFlags::kRefuse) {
      throw Error("--program starts a program without Python; write: timeloom run --program " +
                  program);
    }
    set_program(ProgramKind::kNative, program);
  }

  void parse_after_dashes() {
    if (!words_.done()) {
      const std::string& word = words_.take();
      set_program(word == "-" ? ProgramKind::kStdin : ProgramKind::kFile, word);
    }
  }

  void parse_long(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string option = word.substr(0, equals);
    const std::string name = option.substr(2);
    if (option == kPycsFlag) {
      add_flag(option, words_.value_for(option, "always, default or never"));
    } else if (option == "--program") {
      set_native_program(equals == std::string::npos
                             ? words_.value_for(option, "the program to run, and its arguments")
                             : word.substr(equals + 1));
    } else if (option == "--help" || option == "--version") {
      (name == "help" ? line_.help : line_.version) = true;
    } else if (const Setting* setting = find_setting(name)) {
      add_option(*setting, option, equals == std::string::npos ? nullptr : &word[equals + 1]);
    } else if (const Setting* negated = negated_setting(name);
               negated && equals == std::string::npos) {
      line_.options.emplace_back(negated, "off");
    } else {
      refuse_option(option, name);
    }
  }

  static const Setting* negated_setting(const std::string& name) {
    const Setting* setting = name.starts_with("no-") ? find_setting(name.substr(3)) : nullptr;
    return setting && setting->type == SettingType::kBool ? setting : nullptr;
  }

  void add_option(const Setting& setting, const std::string& option, const char* value) {
    if (setting.type == SettingType::kBool) {
      line_.options.emplace_back(&setting, value ? value : "on");
    } else {
      line_.options.emplace_back(&setting,
                                 value ? value : words_.value_for(option, setting.meaning));
    }
    Settings().set(setting, line_.options.back().second, option);  // refuse wrong values at once
  }

  [[noreturn]] static void refuse_option(const std::string& option, const std::string& name) {
    const std::string no = name.starts_with("no-") ? "no-" : "";
    const std::string plain = name.substr(no.size());
    if (find_setting(plain) != nullptr) {
      throw Error("unknown option " + option + "; --" + plain + " is no switch, leave it out");
    }
    const std::string_view nearest = nearest_setting(plain);
    throw Error("unknown option " + option + "; " +
                (nearest.empty() ? "see timeloom run --help"
                                 : "did you mean --" + no + std::string(nearest) + "?"));
  }

  // A word like -OO, -Xdev, -Im: letters, of which the first that takes a value
  // takes the rest of the word. Flags stay together as they were written.
  void parse_short(const std::string& word) {
    std::string flags = "-";
    for (std::size_t i = 1; i < word.size(); ++i) {
      const std::string rest = word.substr(i + 1);
      if (kPlainFlags.find(word[i]) != std::string_view::npos) {
        flags += word[i];
      } else if (kValueFlags.find(word[i]) != std::string_view::npos) {
        const std::string option{'-', word[i]};
        const std::string value = rest.empty() ? words_.value_for(option, "see python --help") : "";
        add_flag(flags + word.substr(i), value);
        return;
      } else {
        add_flag(flags);
        return parse_letter(word[i], rest);
      }
    }
    add_flag(flags);
  }

  // The last letter of the word is an option of ours, or -m or -c.
  void parse_letter(char letter, const std::string& rest) {
    const std::string option{'-', letter};
    const auto value = [&](std::string_view meaning) -> std::string {
      return rest.empty() ? words_.value_for(option, meaning) : rest;
    };
    if (letter == 'h' || letter == '?') {
      line_.help = true;
    } else if (letter == 'V') {
      line_.version = true;
    } else if (letter == 'm') {
      const std::string name = value("the name of a module");
      set_program(ProgramKind::kModule, name);
    } else if (letter == 'c') {
      const std::string code = value("the code to run");
      set_program(ProgramKind::kCommand, code);
    } else if (const Setting* setting = setting_of(letter)) {
      const std::string text = value(setting->meaning);
      add_option(*setting, option, text.c_str());
    } else {
      throw Error("unknown option " + option + "; see timeloom run --help");
    }
  }

  static const Setting* setting_of(char letter) {
    for (const Setting& setting : all_settings()) {
      if (setting.short_name == letter) {
        return &setting;
      }
    }
    return nullptr;
  }

  void add_flag(const std::string& flag, const std::string& value = {}) {
    if (flag == "-") {  // no letters before ours
      return;
    }
    if (flags_ == InterpreterFlags::kRefuse) {
      throw Error(flag + " is a flag of the interpreter; write: python " + flag +
                  (value.empty() ? "" : " " + value) + " -m timeloom ...");
    }
    line_.interpreter_flags.push_back(flag);
    if (!value.empty()) {
      line_.interpreter_flags.push_back(value);
    }
  }

  Words words_;
  InterpreterFlags flags_;
  CommandLine line_;
};

}  // namespace

CommandLine parse_command_line(std::span<const std::string> arguments, InterpreterFlags flags) {
  return Parser(arguments, flags).parse();
}

std::vector<std::string> option_words(const CommandLine& line) {
  std::vector<std::string> words;
  for (const auto& [setting, value] : line.options) {
    words.push_back("--" + std::string(setting->name) + "=" + value);
  }
  return words;
}

std::vector<std::string> program_words(const CommandLine& line) {
  std::vector<std::string> words;
  switch (line.kind) {
    case ProgramKind::kNone: return words;
    case ProgramKind::kModule: words.push_back("-m"); break;
    case ProgramKind::kCommand: words.push_back("-c"); break;
    case ProgramKind::kNative: words.push_back("--program"); break;
    case ProgramKind::kFile:
      if (line.target.starts_with('-')) {
        words.push_back("--");
      }
      break;
    case ProgramKind::kStdin: break;
  }
  words.push_back(line.target);
  words.insert(words.end(), line.arguments.begin(), line.arguments.end());
  return words;
}

void apply(const CommandLine& line, Settings& settings) {
  for (const auto& [setting, value] : line.options) {
    settings.set(*setting, value, "--" + std::string(setting->name));
  }
}

InterpreterStart split_interpreter_start(std::span<const std::string> arguments) {
  InterpreterStart start;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == kPycsFlag && i + 1 < arguments.size()) {
      start.flags.insert(start.flags.end(), {word, arguments[++i]});
      continue;
    }
    const std::size_t ending = word.starts_with('-') ? word.find_first_of("mcWX") : 0;
    if (ending == std::string::npos && word != "-" && word != "--") {
      start.flags.push_back(word);
      continue;
    }
    const bool takes_value = ending != 0 && ending != std::string::npos;
    const bool flag = takes_value && kValueFlags.find(word[ending]) != std::string_view::npos;
    if (flag) {
      start.flags.push_back(word);
      if (ending + 1 == word.size() && i + 1 < arguments.size()) {
        start.flags.push_back(arguments[++i]);
      }
      continue;
    }
    if (takes_value && ending > 1) {
      start.flags.push_back(word.substr(0, ending));  // the I of -Im
    }
    if (takes_value) {
      start.program.push_back(std::string("-") + word[ending]);
      if (ending + 1 < word.size()) {
        start.program.push_back(word.substr(ending + 1));
      }
    } else if (word != "--") {
      start.program.push_back(word);
    }
    const auto rest = arguments.subspan(i + 1);
    start.program.insert(start.program.end(), rest.begin(), rest.end());
    break;
  }
  return start;
}

}  // namespace timeloom
