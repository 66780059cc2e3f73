#include "tools/report/findings/findings_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

const Findings kFindings = {
    {"one", "a short sentence", "report --by thread", 2.5, {{"threads", 4}}},
    {"two",
     "a sentence of words that takes more than the one line that a terminal has for it",
     "report --function f",
     1,
     {}}};

TEST(FindingsText, LinesFitTheTerminal) {
  Terminal terminal;
  terminal.width = 44;
  const std::vector<std::string> expected = {"> a short sentence  timeloom report --by thread",
                                             "> a sentence of words that takes more than",
                                             "  the one line that a terminal has for it",
                                             "  timeloom report --function f"};
  terminal.width = 47;
  std::vector<std::string> wide = finding_lines({kFindings[0]}, terminal);
  EXPECT_EQ(wide, std::vector<std::string>{expected[0]});
  terminal.width = 44;
  const std::vector<std::string> lines = finding_lines(kFindings, terminal);
  EXPECT_EQ(lines, (std::vector<std::string>{"> a short sentence", "  timeloom report --by thread",
                                             expected[1], expected[2], expected[3]}));
  for (const std::string& line : lines) EXPECT_LE(columns(line), terminal.width);
}

TEST(FindingsText, LinesAreForThreeAndTheNumberOfTheOthers) {
  const Terminal terminal;
  Findings findings(3, kFindings[0]);
  const std::vector<std::string> three = finding_lines(findings, terminal);
  findings.resize(5, kFindings[1]);
  std::vector<std::string> lines = finding_lines(findings, terminal);
  EXPECT_EQ(lines.back(), "  and 2 more findings: timeloom report --json");
  lines.pop_back();
  EXPECT_EQ(lines, three);
  EXPECT_EQ(findings_json(findings).size(), 5u);
}

TEST(FindingsText, JsonHasTheEvidence) {
  const nlohmann::ordered_json json = findings_json(kFindings);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["rule"], "one");
  EXPECT_EQ(json[0]["command"], "timeloom report --by thread");
  EXPECT_EQ(json[0]["evidence"]["threads"], 4);
  EXPECT_EQ(json[1]["evidence"].size(), 0u);
}

}  // namespace
}  // namespace timeloom::tools
