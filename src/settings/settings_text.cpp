#include "settings/settings_text.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/text/joined.hpp"
#include "settings/settings.hpp"

namespace timeloom {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 24;

constexpr char kUsage[] =
    "usage: timeloom run [interpreter flags] [options] PROGRAM [arguments]\n"
    "       python [interpreter flags] -m timeloom [options] PROGRAM [arguments]\n"
    "       timeloom run [options] --program ./prog [arguments]\n"
    "\n"
    "Runs a Python program and records what it does.\n"
    "\n"
    "PROGRAM is what python takes: script.py, -m module, -c code, - (stdin), or a\n"
    "directory or zip file with a __main__.py. The words after it belong to it.\n"
    "With --program it is a program without Python, whose native code is recorded\n"
    "where it is marked (docs/native.md).\n";

constexpr char kEnding[] =
    "\n"
    "Every option is also a variable (--buffer-size: TIMELOOM_BUFFER_SIZE) and a\n"
    "key of [tool.timeloom] in pyproject.toml. An option wins over the variable, and\n"
    "that over the key.\n"
    "\n"
    "exit status: that of the program; 2 if it was not started for wrong usage.\n";

bool is_on_by_default(const Setting& setting) {
  return setting.type == SettingType::kBool && setting.default_value == "on";
}

// The option that changes something, without its dashes: "profile", "no-waiting".
std::string switch_name(const Setting& setting) {
  return (is_on_by_default(setting) ? "no-" : "") + std::string(setting.name);
}

// The setting as a user writes it: "-o, --output DIR".
std::string option_text(const Setting& setting) {
  std::string text;
  if (setting.short_name != 0) {
    text += std::string("-") + setting.short_name + ", ";
  }
  text += "--" + switch_name(setting);
  if (!setting.placeholder.empty()) {
    text += " " + std::string(setting.placeholder);
  }
  return text;
}

// Breaks `text` into lines of kWidth. The first starts at `column`, the others at `indent`.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent = kIndent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (column + 1 + space > kWidth) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += text.substr(0, space);
    column += space;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return result + "\n";
}

std::string help_entry(const Setting& setting) {
  std::string line = "  " + option_text(setting);
  line += line.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ')
                                    : std::string(kIndent - line.size(), ' ');
  return line + wrapped(setting_help(setting), kIndent);
}

std::string type_text(const Setting& setting) {
  switch (setting.type) {
    case SettingType::kBool: return "on or off";
    case SettingType::kInteger: return "whole number";
    case SettingType::kSize: return "size (`1M`, `16M`, `2G`)";
    case SettingType::kString: return "text";
    case SettingType::kChoice: return "one of " + joined(setting.choices);
    case SettingType::kList: return "list of patterns";
  }
  return {};
}

std::string page_entry(const Setting& setting) {
  std::string text = "### " + std::string(setting.name) + "\n\n";
  std::string meaning(setting.meaning);
  meaning[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(meaning[0])));
  text += meaning + ".\n\n";
  text += "| option | variable | key | value | default |\n|---|---|---|---|---|\n";
  text +=
      "| `" + option_text(setting) + "` | `" + variable_of(setting) + "` | `" +
      std::string(setting.name) + "` | " + type_text(setting) + " | " +
      (setting.default_value.empty() ? "none" : "`" + std::string(setting.default_value) + "`") +
      " |\n\n";
  return text;
}

std::string described_groups() {
  std::string text;
  std::string_view group;
  for (const Setting& setting : all_settings()) {
    if (setting.group != group) {
      group = setting.group;
      text += "\n" + std::string(group) + ":\n";
    }
    text += help_entry(setting);
  }
  return text;
}

std::string needed_by_most() {
  std::string text = "\nWhat most users need:\n";
  for (const SettingId id : {SettingId::output, SettingId::overhead, SettingId::only_my_code,
                             SettingId::profile, SettingId::memory}) {
    text += help_entry(setting_of(id));
  }
  return text;
}

// The name of each option, without what it does.
std::string named_groups() {
  std::map<std::string_view, std::string> names;
  std::vector<std::string_view> order;
  for (const Setting& setting : all_settings()) {
    std::string& text = names[setting.group];
    if (text.empty()) order.push_back(setting.group);
    text += (text.empty() ? "--" : " --") + switch_name(setting);
  }
  std::string text;
  for (const std::string_view group : order) {
    text += "\n" + std::string(group) + ":\n  " + wrapped(names[group], 2, 2);
  }
  return text;
}

constexpr char kPageBegin[] = R"(# Settings

<!-- Made from the table in src/settings/settings_table.inc: a test tells how to make it again when it is out of date. -->

Every setting can be given in three places. The first that has it wins:

1. an option of `timeloom run` and `python -m timeloom`: `--name value`,
   `--name=value`; switches are `--name` and `--no-name`;
2. a variable of the environment: `TIMELOOM_NAME`; an empty one counts as unset;
3. a key of `[tool.timeloom]` in the nearest `pyproject.toml`, looked for in the
   current directory and upward. One that belongs to another user than you and root is not read, and a
   line tells this, unless the Python file that is run belongs to that user, too.

```toml
[tool.timeloom]
instrumenter = "monitoring"
c-functions = true
buffer-size = "64M"
exclude = ["numpy.*", "*/site-packages/*"]
```

The rules of `exclude` and `include` add up: first the rules of pyproject.toml, then
the variables (`exclude` before `include`, patterns separated by commas), then
the options, each in the order written. The last rule that matches a function
decides. A function that no rule matches is recorded, unless the first rule is
an `include`. Leaving out a function never hides what it calls.

A pattern is matched as in a shell (`*`, `?`, `[abc]`) against `module.qualname`,
or against the file if it has a `/`. A file pattern that begins with neither `/`
nor `*` may match from any directory on. The name of a module or package matches
all that is in it, and `stdlib` and `site-packages` stand for the standard library and installed packages;
[filter.md](filter.md) has all of it.

A value that is not accepted, or an option or key that does not exist, stops the
command with exit status 2 before the program starts. A variable `TIMELOOM_...`
that is not a setting stops nothing: if it resembles one, a line on stderr names the
setting that may be meant, else it is left alone.

`TIMELOOM_PYTHON` is not a setting: it names the interpreter that `timeloom run`
starts when it is not installed beside one.

)";

}  // namespace

std::string setting_help(const Setting& setting) {
  std::string text(setting.meaning);
  if (is_on_by_default(setting)) text = "do not " + text;
  if (!setting.choices.empty()) {
    text += "; one of " + joined(setting.choices);
  }
  if (setting.type != SettingType::kBool && !setting.default_value.empty()) {
    text += " (default: " + std::string(setting.default_value) + ")";
  }
  return text;
}

std::string run_help(HelpDetail detail) {
  const std::string options =
      detail == HelpDetail::kAll ? described_groups() : needed_by_most() + named_groups();
  return kUsage + options +
         "\nOther:\n"
         "  -h, --help [all]      show this help; with all, what each option does\n"
         "  -V, --version         show the version of Timeloom\n" +
         kEnding;
}

std::string settings_page() {
  std::string text = kPageBegin;
  std::string_view group;
  for (const Setting& setting : all_settings()) {
    if (setting.group != group) {
      group = setting.group;
      text += "## " + std::string(group) + "\n\n";
    }
    text += page_entry(setting);
  }
  text.pop_back();  // no empty line at the end
  return text;
}

}  // namespace timeloom
