// The verdicts of `timeloom check` for people, and as JSON for programs.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <string>
#include <vector>

#include "tools/check/check_judge.hpp"
#include "tools/ci/ci_report.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// "FAIL 5, app.load": the outcome, then the measured value or the reason why it is missing.
std::string line_of(const Verdict& verdict);

// `losses`: sentences about the run, as in RunFacts.
void write_check(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                 const Terminal& terminal, Output& output);
CiReport ci_report_of(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                      const std::string& run);
void write_check_json(const std::vector<Verdict>& verdicts, const std::vector<std::string>& losses,
                      const std::string& run, Output& output);

}  // namespace timeloom::tools
