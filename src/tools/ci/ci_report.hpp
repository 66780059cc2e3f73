// Results of `timeloom check` and `timeloom diff --fail-above` in the forms that services for
// continuous integration show: JUnit's XML (by the schema of Jenkins' xUnit plugin, which GitLab,
// Jenkins and others read), workflow commands of GitHub Actions, and a table in Markdown.
//
// Used by one thread; throws Error when the output cannot be written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/text/output.hpp"

namespace timeloom::tools {

enum class CiFormat : std::uint8_t { kText, kJson, kJunit, kGithub, kMarkdown };

// The words of --format.
const std::map<std::string, CiFormat>& ci_formats();

enum class CiOutcome : std::uint8_t { kPass, kFail, kError, kUndecided };

struct CiResult {
  std::string name;  // of the rule, or of the region that was compared
  CiOutcome outcome = CiOutcome::kPass;
  std::string message;
  std::string file = {};  // empty: not about a place in a file
  std::uint32_t line = 0;
};

struct CiReport {
  std::string command;  // "timeloom check"
  std::string run;      // or the two that were compared
  std::vector<CiResult> results;
  std::vector<std::string> losses = {};  // sentences
};

// REQUIRES: `format` is one of kJunit, kGithub and kMarkdown.
void write_ci_report(const CiReport& report, CiFormat format, Output& output);

}  // namespace timeloom::tools
