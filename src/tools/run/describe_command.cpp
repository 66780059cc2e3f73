// `timeloom describe-commands`: all commands and their options as JSON, for
// scripts/pages/command_pages.py, which makes the manual pages and the shells' completion of them.
// Not in the help.

#include <CLI/App.hpp>
#include <CLI/Option.hpp>

#include "settings/settings.hpp"
#include "settings/settings_text.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/json_text.hpp"
#include "tools/score/score_options.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

namespace {

using nlohmann::ordered_json;

ordered_json command_json(const CLI::Option& option) {
  ordered_json names = ordered_json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return {{"names", names},
          {"value", option.get_items_expected_max() == 0 ? "" : option.get_type_name()},
          {"choices", choices_of(option)},
          {"help", option.get_description()},
          {"group", ""}};
}

ordered_json command_json(const Setting& setting) {
  ordered_json names = ordered_json::array();
  if (setting.short_name != 0) names.push_back(std::string("-") + setting.short_name);
  names.push_back("--" + std::string(setting.name));
  // In the order of the help: what changes something comes first.
  if (setting.type == SettingType::kBool) {
    names.insert(setting.default_value == "on" ? names.begin() : names.end(),
                 "--no-" + std::string(setting.name));
  }
  return {{"names", names},
          {"value", setting.placeholder},
          {"choices", setting.choices},
          {"help", setting_help(setting)},
          {"group", setting.group}};
}

// The help of commands that parse their own command line.
std::string usage_of(const std::string& command) {
  if (command == "run") return run_help(HelpDetail::kAll);
  if (command == "score") return score_help();
  return {};
}

ordered_json command_json(const CLI::App& command) {
  ordered_json options = ordered_json::array();
  ordered_json positionals = ordered_json::array();
  if (command.get_name() == "run") {
    for (const Setting& setting : all_settings()) options.push_back(command_json(setting));
    options.push_back({{"names", {"--program"}},
                       {"value", "PROGRAM"},
                       {"choices", ordered_json::array()},
                       {"help", "record the native code of a program without Python"},
                       {"group", ""}});
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) {
      positionals.push_back({{"name", option->get_name(true)},
                             {"help", option->get_description()},
                             {"required", option->get_required()},
                             {"several", option->get_items_expected_max() > 1}});
    } else if (!option->get_group().empty()) {
      options.push_back(command_json(*option));
    }
  }
  return {{"name", command.get_name()},
          {"help", command.get_description()},
          {"usage", usage_of(command.get_name())},
          {"footer", command.get_footer()},
          {"positionals", positionals},
          {"options", options}};
}

int describe(const CLI::App& program) {
  ordered_json commands = ordered_json::array();
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) commands.push_back(command_json(*command));
  }
  const ordered_json all = {{"format", "timeloom-commands"},
                            {"version", 1},
                            {"program", command_json(program)},
                            {"commands", commands}};
  return print(json_text(all, 1) + "\n");
}

}  // namespace

Command register_describe(CLI::App& program) {
  CommandOptions known(program, "describe-commands", "All commands and their options as JSON");
  known.hide();
  return {known.app(), [&program] { return describe(program); }};
}

}  // namespace timeloom::tools
