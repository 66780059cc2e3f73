// `timeloom check RUN RULES`: whether a run keeps rules.

#include <algorithm>
#include <memory>

#include "core/error.hpp"
#include "tools/check/check_text.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/open_run.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {

namespace {

constexpr int kUnknownRegion = 3;

struct CheckOptions {
  std::string run;
  std::vector<std::string> rules;  // rules and files of rules
  bool json = false;
  CiFormat format = CiFormat::kText;
  ColourMode colour = ColourMode::kAuto;
};

std::vector<std::string> texts_of(const CheckOptions& options) {
  std::vector<std::string> texts;
  for (const std::string& one : options.rules) {
    if (!one.ends_with(".toml")) {
      texts.push_back(one);
      continue;
    }
    const std::vector<std::string> loaded = load_rules(one);
    texts.insert(texts.end(), loaded.begin(), loaded.end());
  }
  return texts;
}

// Says what is wrong, a line a rule. Empty: something was.
std::vector<Rule> read_rules(const CheckOptions& options) {
  std::vector<Rule> rules;
  bool good = true;
  const auto print_what_is_wrong = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      print_line(error.what());
      good = false;
    }
  };
  print_what_is_wrong([&] {
    for (const std::string& text : texts_of(options)) {
      print_what_is_wrong([&] { rules.push_back(parse_rule(text)); });
    }
    if (options.rules.empty()) {
      throw Error(
          "no rules; write timeloom check RUN 'total(solve) < 2s', or name a .toml file [TL404]");
    }
  });
  return good ? rules : std::vector<Rule>();
}

int status_of_verdicts(const std::vector<Verdict>& verdicts) {
  const auto has = [&](Outcome outcome) {
    return std::ranges::find(verdicts, outcome, &Verdict::outcome) != verdicts.end();
  };
  if (has(Outcome::kUnknown)) return kUnknownRegion;
  if (has(Outcome::kBroken)) return kFailed;
  return has(Outcome::kUndecided) ? kCannotTell : kDone;
}

int run_check(const CheckOptions& options) {
  const std::vector<Rule> rules = read_rules(options);
  if (rules.empty()) return kWrongUsage;
  const std::filesystem::path run = open_run(options.run);
  const profile::CallTree tree = call_tree_of(run);
  const std::vector<Verdict> verdicts = judge(rules, tree);
  const std::vector<std::string> losses = facts_of(tree.definitions).losses;
  Output output;
  if (options.json || options.format == CiFormat::kJson)
    write_check_json(verdicts, losses, run.string(), output);
  else if (options.format != CiFormat::kText)
    write_ci_report(ci_report_of(verdicts, losses, run.string()), options.format, output);
  else
    write_check(verdicts, losses, Terminal::detect(options.colour), output);
  output.flush();
  return status_of_verdicts(verdicts);
}

}  // namespace

Command register_check(CLI::App& program) {
  const auto options = std::make_shared<CheckOptions>();
  CommandOptions known(program, "check", "Hold a run against rules: times, visits, cost");
  known.positional("RUN", options->run, "Run directory, OTF2 archive or CUBE profile");
  known.positional("RULES", options->rules,
                   "Rules such as 'total(solve) < 2s', 'visits(*.load) <= 3', 'overhead < 5%', and "
                   ".toml files of them");
  known.flag("--json", options->json, "Print JSON");
  known.choice("--format", options->format, ci_formats(),
               "How to print: text, json, JUnit XML, annotations of GitHub Actions, Markdown");
  known.colour(options->colour);
  known.footer(
      "Exit status: 0 all rules hold, 1 some do not or the run could not be read, 2 wrong usage or "
      "a rule that makes no sense, 3 a rule names no region of the run or asks for what it does "
      "not say, 4 undecided: a limit lies within the uncertainty of an estimate, or events that "
      "the "
      "run lost could change the answer.");
  return {known.app(), [options] { return run_check(*options); }};
}

}  // namespace timeloom::tools
