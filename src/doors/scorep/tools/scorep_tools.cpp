// What the door Score-P adds to the program: the commands that its users and their scripts call.
#include <unistd.h>

#include "core/run_properties.hpp"
#include "doors/scorep/settings/scorep_settings.hpp"
#include "doors/scorep/tools/scorep_commands.hpp"
#include "tools/door_tools.hpp"

namespace timeloom::tools {

namespace {

constexpr char kPlainCalls[] = "SCOREP_TRACING_CONVERT_CALLING_CONTEXT_EVENTS";

std::string note_of_plain_calls() {
  if (!ScorepSettings(environ).flag(kPlainCalls)) return {};
  return std::string("the archive has enters and leaves, and no samples, as ") + kPlainCalls +
         " asks for [TL729]";
}

}  // namespace

extern const DoorTools kScorepTools;
const DoorTools kScorepTools{.layout = kScorepLayoutName,
                             .plain_calls_note = note_of_plain_calls,
                             .commands = [](CLI::App& program) -> std::vector<Command> {
                               return {register_scorep_info(program),
                                       register_scorep_config(program),
                                       register_scorep_preload(program)};
                             }};

}  // namespace timeloom::tools
