// Findings as text for people and as JSON. Plain functions; throw std::bad_alloc alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/report/findings/finding.hpp"

namespace timeloom::tools {

// The lines without their ends, each as wide as the terminal at most where words allow it: the
// sentence, then the command, on the same line if there is room. Of more than three findings, the
// last line has the number of the others.
std::vector<std::string> finding_lines(const Findings& findings, const Terminal& terminal);

nlohmann::ordered_json findings_json(const Findings& findings);

}  // namespace timeloom::tools
