// `timeloom attach`: becomes `python -m timeloom._attach`, in the Python that has Timeloom: the
// interpreter itself knows how another one is reached.
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/start/find_python.hpp"
#include "tools/start/start_python.hpp"

namespace timeloom::tools {

namespace {

[[noreturn]] int attach(const std::vector<std::string>& arguments) {
  const PythonChoice python = find_python(own_executable());
  if (!python.sure) (void)ask_for_package(python.program, {});
  std::vector<std::string> words = {python.program, "-P", "-m", "timeloom._attach"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  become(std::move(words));
}

// Only described here: timeloom._attach takes the words as they are.
struct Described {
  std::string duration, timeout, process;
  bool dump = false;
};

}  // namespace

Command register_attach(CLI::App& program) {
  CommandOptions known(program, "attach",
                       "Record a Python program that runs already, or print its stacks");
  static Described described;
  known.positional("PID", described.process, "The process");
  known.text("--for", "TIME", described.duration,
             "Stop recording after this time: 500ms, 10s, 2min");
  known.text("--within", "TIME", described.timeout,
             "How long to wait for the main thread, which may be in C (5s)");
  known.flag("--dump", described.dump,
             "Print the stacks of all threads once instead, read from outside");
  return {known.app(), [] { return attach({}); }, attach};
}

}  // namespace timeloom::tools
