// `timeloom mcp`: becomes `python -m timeloom._mcp`, in the Python that has Timeloom: the server
// needs a package of PyPI, and reads runs by the commands of this program.
#include <memory>

#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/start/find_python.hpp"
#include "tools/start/start_python.hpp"

namespace timeloom::tools {

namespace {

[[noreturn]] int serve_agents(const std::vector<std::string>& directories) {
  const PythonChoice python = find_python(own_executable());
  if (!python.sure) (void)ask_for_package(python.program, {});
  std::vector<std::string> words = {python.program, "-P", "-m", "timeloom._mcp"};
  words.insert(words.end(), directories.begin(), directories.end());
  become(std::move(words));
}

}  // namespace

Command register_mcp(CLI::App& program) {
  const auto directories = std::make_shared<std::vector<std::string>>();
  CommandOptions known(program, "mcp",
                       "Answer agents about runs: a server of the Model Context Protocol");
  known.positional("DIR", *directories,
                   "Directories whose runs and sources may be read (default: the working folder)");
  known.footer(
      "An agent starts it and talks to it by standard input and output; docs/agents.md shows how. "
      "It needs the package mcp: pip install 'timeloom[mcp]'.\n"
      "Exit status: 0 the agent has left, 1 the server could not start, 2 wrong usage.");
  return {known.app(), [directories]() -> int { serve_agents(*directories); }};
}

}  // namespace timeloom::tools
