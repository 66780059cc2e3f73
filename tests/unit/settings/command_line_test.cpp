#include "settings/command_line.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace timeloom {
namespace {

using Words = std::vector<std::string>;

CommandLine parse(const Words& words) { return parse_command_line(words, InterpreterFlags::kTake); }

std::string error_of(const Words& words, InterpreterFlags flags = InterpreterFlags::kTake) {
  try {
    parse_command_line(words, flags);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// The arguments that python -m timeloom gets: flags | options | program.
std::string handed_on(const Words& words) {
  const CommandLine line = parse(words);
  std::string text;
  for (const std::string& word : line.interpreter_flags) text += word + " ";
  text += "|";
  for (const std::string& word : option_words(line)) text += " " + word;
  text += " |";
  for (const std::string& word : program_words(line)) text += " " + word;
  return text;
}

TEST(CommandLine, EndsWithTheProgram) {
  EXPECT_EQ(handed_on({"app.py", "-X", "--quiet", "-m"}), "| | app.py -X --quiet -m");
  EXPECT_EQ(handed_on({"-m", "mod", "--force"}), "| | -m mod --force");
  EXPECT_EQ(handed_on({"-mmod"}), "| | -m mod");
  EXPECT_EQ(handed_on({"-c", "print(1)", "-c"}), "| | -c print(1) -c");
  EXPECT_EQ(handed_on({"-", "a"}), "| | - a");
  EXPECT_EQ(handed_on({"--", "-odd.py", "--"}), "| | -- -odd.py --");
  EXPECT_EQ(handed_on({"--", "app.py"}), "| | app.py");
  EXPECT_TRUE(parse({"--quiet", "--", "app.py"}).marked);
  EXPECT_FALSE(parse({"app.py", "--"}).marked);
}

TEST(CommandLine, TakesFlagsAndOptionsInAnyOrder) {
  EXPECT_EQ(handed_on({"-X", "dev", "--quiet", "-OO", "-Wignore", "--no-weave", "app.py"}),
            "-X dev -OO -Wignore | --quiet=on --weave=off | app.py");
  EXPECT_EQ(handed_on({"-IBm", "mod", "x"}), "-IB | | -m mod x");
  EXPECT_EQ(handed_on({"-BX", "dev", "-uXutf8", "app.py"}), "-BX dev -uXutf8 | | app.py");
  EXPECT_EQ(handed_on({"-uoDIR", "app.py"}), "-u | --output=DIR | app.py");
  EXPECT_EQ(handed_on({"-o", "DIR", "--exclude", "a", "--include=b", "--exclude", "c", "app.py"}),
            "| --output=DIR --exclude=a --include=b --exclude=c | app.py");
  EXPECT_EQ(handed_on({"-o=DIR", "--output=a=b", "app.py"}),
            "| --output=DIR --output=a=b | app.py");
  EXPECT_EQ(handed_on({"-OO", "-Xa=b", "app.py"}), "-OO -Xa=b | | app.py");
  EXPECT_EQ(handed_on({"--check-hash-based-pycs", "never", "app.py"}),
            "--check-hash-based-pycs never | | app.py");
}

TEST(CommandLine, WithoutProgramHasNone) {
  EXPECT_EQ(parse({}).kind, ProgramKind::kNone);
  EXPECT_EQ(parse({"--"}).kind, ProgramKind::kNone);
  EXPECT_TRUE(parse({"-h"}).help);
  EXPECT_TRUE(parse({"--help", "app.py"}).help);
  EXPECT_TRUE(parse({"--version"}).version);
  EXPECT_TRUE(parse({"-V"}).version);
  EXPECT_FALSE(parse({"app.py", "--help"}).help);
}

TEST(CommandLine, SaysWhatIsWrong) {
  EXPECT_EQ(error_of({"--qiuet"}), "unknown option --qiuet; did you mean --quiet? [TL109]");
  EXPECT_EQ(error_of({"--no-waeve"}),
            "unknown option --no-waeve; did you mean --no-weave? [TL109]");
  EXPECT_EQ(error_of({"--no-output"}),
            "unknown option --no-output; --output is not a switch, leave it out [TL109]");
}

TEST(CommandLine, SaysWhatIsMissing) {
  EXPECT_EQ(error_of({""}), "the name of the script is empty [TL110]");
  EXPECT_EQ(error_of({"-m"}), "-m needs a value: the name of a module [TL108]");
  EXPECT_EQ(error_of({"-X"}), "-X needs a value: see python --help [TL108]");
  EXPECT_NE(error_of({"--output"}), "");
  EXPECT_EQ(error_of({"-z"}), "unknown option -z; see timeloom run --help [TL109]");
  EXPECT_EQ(error_of({"--zzzzzzz"}), "unknown option --zzzzzzz; see timeloom run --help [TL109]");
  EXPECT_EQ(error_of({"--quiet=perhaps", "app.py"}),
            "--quiet: 'perhaps' is not accepted; write on or off [TL101]");
}

TEST(CommandLine, RefusesFlagsThatComeTooLate) {
  EXPECT_EQ(error_of({"-X", "dev", "app.py"}, InterpreterFlags::kRefuse),
            "-X is a flag of the interpreter; write: python -X dev -m timeloom ... [TL111]");
  EXPECT_EQ(error_of({"-O", "app.py"}, InterpreterFlags::kRefuse),
            "-O is a flag of the interpreter; write: python -O -m timeloom ... [TL111]");
  EXPECT_EQ(error_of({"app.py", "-O"}, InterpreterFlags::kRefuse), "");
}

// Options of another command: names and values, and the words that are left.
std::string read_by_table(const Words& words, bool shortened = false) {
  constexpr std::size_t kMany = 100;
  const OptionTable table = {
      {.names = {"-b", "--builtin"}},
      {.names = {"-F", "--full"}, .wanted = "yes or no", .most = 1, .accepted = {"yes", "no"}},
      {.names = {"-M", "--module"}, .wanted = "NAME", .least = 1, .most = 1},
      {.names = {"-ME", "--module-exclude"}, .wanted = "NAME", .least = 1, .most = kMany},
      {.names = {"--label"}, .wanted = "a or b", .most = kMany, .accepted = {"a", "b"}},
      {.names = {"--mpp"}, .wanted = "--mpp=...", .least = 1, .most = 1, .joined = true}};
  const OptionGrammar grammar{{&table}, "command --help", shortened};
  OptionReader reader(grammar, words);
  std::string text;
  try {
    while (const auto option = reader.next()) {
      text += option->option->name().substr(2);
      for (const std::string& value : option->values) text += " " + value;
      text += "; ";
    }
  } catch (const Error& error) {
    return error.what();
  }
  text += "|";
  for (const std::string& word : reader.rest()) text += " " + word;
  return text;
}

TEST(OptionReader, TakesAsManyValuesAsAnOptionHas) {
  EXPECT_EQ(read_by_table({"-bF", "app", "-b"}), "builtin; full; | app -b");
  EXPECT_EQ(read_by_table({"-F", "No", "yes"}), "full No; | yes");
  EXPECT_EQ(read_by_table({"--label", "a", "b", "c"}), "label a b; | c");
  EXPECT_EQ(read_by_table({"-ME", "x", "y", "-b", "-"}), "module-exclude x y; builtin; | -");
  EXPECT_EQ(read_by_table({"-ME=x", "y"}), "module-exclude x; | y");
  EXPECT_EQ(read_by_table({"-Mx", "-M", "-x", "-MEy"}), "module x; module -x; module-exclude y; |");
  EXPECT_EQ(read_by_table({"--mpp=mpi", "--", "-b"}), "mpp mpi; | -- -b");
}

TEST(OptionReader, SaysWhichValueIsWrong) {
  EXPECT_EQ(read_by_table({"-M"}), "-M needs a value: NAME [TL108]");
  EXPECT_EQ(read_by_table({"-ME", "--", "x"}), "-ME needs a value: NAME [TL108]");
  EXPECT_EQ(read_by_table({"--mpp", "mpi"}), "--mpp needs a value: --mpp=... [TL108]");
  EXPECT_EQ(read_by_table({"--builtin=x"}), "--builtin takes no value [TL106]");
  EXPECT_EQ(read_by_table({"-Fx"}), "-F: 'x' is not accepted; write yes or no [TL101]");
  EXPECT_EQ(read_by_table({"-b-x"}), "unknown option -b-x; see command --help [TL109]");
}

TEST(OptionReader, TakesTheBeginningOfALongNameWhereThatIsAllowed) {
  EXPECT_EQ(read_by_table({"--built"}), "unknown option --built; did you mean --builtin? [TL109]");
  EXPECT_EQ(read_by_table({"--built"}, true), "builtin; |");
  EXPECT_EQ(read_by_table({"--module-"}, true), "--module-exclude needs a value: NAME [TL108]");
  EXPECT_EQ(read_by_table({"--m"}, true),
            "--m may be --module, --module-exclude, --mpp; write one of them [TL105]");
}

TEST(CommandLine, SetsWhatTheOptionsSay) {
  Settings settings;
  settings.set(kSettings.exclude, "first", "");
  apply(parse({"--instrumenter=trace", "--exclude", "a", "--include", "b", "app.py"}), settings);
  EXPECT_EQ(settings.text(kSettings.instrumenter), "trace");
  const std::vector<FilterRule> expected = {{false, "first"}, {false, "a"}, {true, "b"}};
  EXPECT_EQ(settings.rules(), expected);
}

std::string split(const Words& words) {
  const InterpreterStart start = split_interpreter_start(words);
  std::string text;
  for (const std::string& word : start.flags) text += word + " ";
  text += "|";
  for (const std::string& word : start.program) text += " " + word;
  return text;
}

TEST(InterpreterStart, IsSplitAsPythonDoes) {
  EXPECT_EQ(split({"-m", "timeloom", "-x"}), "| -m timeloom -x");
  EXPECT_EQ(split({"-Xdev", "-OBm", "timeloom", "a"}), "-Xdev -OB | -m timeloom a");
  EXPECT_EQ(split({"-W", "ignore", "-mtimeloom"}), "-W ignore | -m timeloom");
  EXPECT_EQ(split({"-uX", "dev", "-c", "m"}), "-uX dev | -c m");
  EXPECT_EQ(split({"app.py", "-m"}), "| app.py -m");
  EXPECT_EQ(split({"-"}), "| -");
  EXPECT_EQ(split({"--", "-x.py"}), "| -x.py");
  EXPECT_EQ(split({"--check-hash-based-pycs", "never", "-E"}),
            "--check-hash-based-pycs never -E |");
  EXPECT_EQ(split({}), "|");
}

}  // namespace
}  // namespace timeloom
