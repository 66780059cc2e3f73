// `timeloom attach`: becomes `python -m timeloom._attach`, in the Python that has Timeloom: the
// interpreter itself knows how another one is reached.
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/find_python.hpp"
#include "tools/start_python.hpp"

namespace timeloom::tools {

namespace {

[[noreturn]] int attach(const std::vector<std::string>& arguments) {
  const PythonChoice python = find_python(own_executable());
  refuse_without_timeloom(python, {});
  std::vector<std::string> words = {python.program, "-P", "-m", "timeloom._attach"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(std::move(words));
}

}  // namespace

Command register_attach(CLI::App& program) {
  const CommandOptions known(program, "attach",
                             "Record a Python program that runs already, or print its stacks");
  return {known.app(), [] { return attach({}); }, attach};
}

}  // namespace timeloom::tools
