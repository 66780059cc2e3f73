// Any bytes as the settings of a measurement: taken, or refused with an Error. Settings
// that were taken come back the same from the records that children inherit.
//
// First byte 0: the rest is the words of a command line. Otherwise it is variables of the
// environment. Words end with zero bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "settings/check.hpp"
#include "settings/command_line.hpp"
#include "settings/overhead_setting.hpp"
#include "settings/settings.hpp"
#include "settings/window_settings.hpp"

namespace timeloom {
namespace {

std::vector<std::string> words_in(std::string_view input) {
  std::vector<std::string> words;
  while (!input.empty()) {
    words.emplace_back(input.substr(0, input.find('\0')));
    input.remove_prefix(std::min(words.back().size() + 1, input.size()));
  }
  return words;
}

// Options and program as words are the same command line again.
void check_words(const CommandLine& line) {
  std::vector<std::string> words = option_words(line);
  const std::vector<std::string> program = program_words(line);
  words.insert(words.end(), program.begin(), program.end());
  const CommandLine again = parse_command_line(words, InterpreterFlags::kTake);
  if (again.options != line.options || again.kind != line.kind) std::abort();
  if (again.target != line.target || again.arguments != line.arguments) std::abort();
}

void take_command_line(const std::vector<std::string>& words, Settings& settings) {
  static_cast<void>(split_interpreter_start(words));
  const CommandLine line = parse_command_line(words, InterpreterFlags::kTake);
  if (line.kind != ProgramKind::kNone) check_words(line);
  apply(line, settings);
}

void take_variables(const std::vector<std::string>& words, Settings& settings) {
  std::vector<const char*> environment;
  for (const std::string& word : words) environment.push_back(word.c_str());
  environment.push_back(nullptr);
  static_cast<void>(read_variables(settings, environment.data()));
}

void check_records(const Settings& settings) {
  const std::string records = settings.as_records();
  Settings again;
  for (const std::string& record : words_in(records)) again.take_record(record);
  if (again.as_records() != records || again.as_variables() != settings.as_variables()) {
    std::abort();
  }
}

template <typename Work>
void try_to(Work work) {
  try {
    work();
  } catch (const Error&) {
    // refused, with its reason
  }
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  if (size == 0) return 0;
  const auto words = words_in({reinterpret_cast<const char*>(data) + 1, size - 1});
  Settings settings;
  try_to([&] {
    if (data[0] == 0) {
      take_command_line(words, settings);
    } else {
      take_variables(words, settings);
    }
  });
  check_records(settings);
  try_to([&] { static_cast<void>(window_of(settings)); });
  try_to([&] { static_cast<void>(overhead_limit_of(settings)); });
  for (const Measured measured : {Measured::kProgram, Measured::kBlock, Measured::kRunning}) {
    try_to([&] { check(settings, measured); });
  }
  return 0;
}
