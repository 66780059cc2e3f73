// The text of MANIFEST.md, made of the table of contents: what each file of a run is and
// which tool opens it. Pure functions, for any thread.
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

// Of a run that holds these, as far as the table has something to say of them.
std::string manifest_text(const std::set<Item>& items, Stage stage);

// Of an experiment directory that is going to hold what `options` say, as Score-P writes it.
std::string experiment_manifest_text(const ExperimentOptions& options);
// The text that follows it until the measurement has ended.
std::string_view unfinished_experiment_text() noexcept;

}  // namespace timeloom::run
