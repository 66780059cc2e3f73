// JSON that several commands print. Plain functions; they throw std::bad_alloc.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/run/run_facts.hpp"
#include "view/answers/json_strings.hpp"

namespace timeloom::tools {

using view::json_text;

// Adds the facts about a run that `report` and `info` have in common.
void add_facts(nlohmann::ordered_json& object, const RunFacts& facts, const std::string& run);

}  // namespace timeloom::tools
