// The settings that tests give as an environment and as configuration files.
#pragma once

#include <string>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom::test {

// Throws Error as the settings do.
inline OmnitraceSettings read(const std::vector<std::string>& entries,
                              const std::vector<std::string>& files = {}) {
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  return OmnitraceSettings(environment.data(), files);
}

}  // namespace timeloom::test
