// Any bytes as variables of Score-P, NAME=value, each ended by a zero byte: taken, or refused with
// an Error.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "doors/scorep/settings/scorep_settings.hpp"

namespace timeloom {
namespace {

void check_variables(const std::vector<std::string>& words) {
  std::vector<const char*> environment;
  for (const std::string& word : words) environment.push_back(word.c_str());
  environment.push_back(nullptr);
  const ScorepSettings scorep(environment.data());
  for (const std::string_view name : scorep.explicitly_set()) {
    const bool written = scorep.as_cfg().find(std::string(name) + "=") != std::string::npos;
    if (find_scorep_variable(name)->in_cfg && !written) std::abort();
  }
  if (unmet_requests(scorep, false).size() > unmet_requests(scorep, true).size()) std::abort();
  static_cast<void>(writes_profile(scorep));
  Settings settings;
  apply(scorep, settings);
}

}  // namespace
}  // namespace timeloom

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> words;
  while (!input.empty()) {
    words.emplace_back(input.substr(0, input.find('\0')));
    input.remove_prefix(std::min(words.back().size() + 1, input.size()));
  }
  try {
    check_variables(words);
  } catch (const Error&) {
    // refused, with its reason
  }
  return 0;
}
