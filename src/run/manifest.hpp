// The text of MANIFEST.md, made from the table of contents: the meaning of each file of a
// run and the tool that opens it. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "run/contents.hpp"

namespace timeloom::run {

struct ExperimentOptions;

enum class Stage : std::uint8_t {
  kRecorded,  // not woven yet
  kRunning,   // woven while some processes had not ended
  kWoven,
};

// The manifest of a run with these entries; entries without a meaning in the table are left out.
std::string manifest_text(const std::set<Item>& items, Stage stage);

// The manifest, as Score-P writes it, of an experiment directory with the results in `options`.
std::string experiment_manifest_text(const ExperimentOptions& options);
// The text after that manifest until the measurement has ended.
std::string_view unfinished_experiment_text() noexcept;

}  // namespace timeloom::run
