// The workers that are measured, from the setting workers.
//
// Plain values and a pure function, for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/text/name_pattern.hpp"
#include "settings/settings.hpp"

namespace timeloom {

// With neither a number nor a pattern, all workers are measured.
struct WorkerChoice {
  std::optional<std::uint64_t> most;   // of each engine; 0: none
  std::optional<NamePattern> pattern;  // of their names

  // Whether the pattern matches the name of a worker, or a word of it. REQUIRES: a pattern.
  bool matches(const std::string& name) const;
};

// Throws Error for a text that is a number, but not one of workers.
WorkerChoice worker_choice_of(const Settings& settings);

}  // namespace timeloom
