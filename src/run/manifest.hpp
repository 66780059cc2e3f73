// The text of MANIFEST.md, made of the table of contents: what each file of a run is and
// which tool opens it. Pure functions, for any thread.
#pragma once

#include <set>
#include <string>

#include "run/contents.hpp"

namespace timeloom::run {

struct ExperimentOptions;

// Of a run that holds these, as far as the table has something to say of them.
std::string manifest_text(const std::set<Item>& items);

// Of an experiment directory that is going to hold what `options` say, as Score-P writes it.
std::string experiment_manifest_text(const ExperimentOptions& options);

}  // namespace timeloom::run
