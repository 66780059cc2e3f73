#include "tools/ci/ci_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.hpp"

namespace timeloom::tools {
namespace {

std::string written(const CiReport& report, CiFormat format) {
  testing::internal::CaptureStdout();
  Output output;
  write_ci_report(report, format, output);
  output.flush();
  return testing::internal::GetCapturedStdout();
}

// The hostile names are a run's: whoever writes one must not write XML or a workflow command.
CiReport ci_sample() {
  const std::string here = std::filesystem::current_path().string();
  std::filesystem::create_directory(here + "/ci_report_test");
  std::ofstream(here + "/ci_report_test/a,b.py") << "pass\n";
  return {"timeloom check",
          "run <1>",
          {{"total(f) < 2s", CiOutcome::kPass, "1 s"},
           {"visits(\"a\n::error::x\") < 1", CiOutcome::kFail, "5%, a|b",
            here + "/ci_report_test/a,b.py", 7},
           {"work < 1s", CiOutcome::kError, "\xe9 not measured", "<frozen os>", 3},
           {"self(g) < 1s", CiOutcome::kUndecided, "lost"}},
          {"9 events could not be recorded"}};
}

// Paths are shown from the current directory on.
class CiReports : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::current_path(directory_.path()); }
  void TearDown() override { std::filesystem::current_path(before_); }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  test::TempDirectory directory_;
};

TEST_F(CiReports, JunitHasAnElementForEachResult) {
  EXPECT_EQ(written(ci_sample(), CiFormat::kJunit),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites tests=\"4\" failures=\"1\" errors=\"2\">\n"
            "<testsuite name=\"run &lt;1&gt;\" tests=\"4\" failures=\"1\" errors=\"2\">\n"
            "  <testcase classname=\"timeloom check\" name=\"total(f) &lt; 2s\"/>\n"
            "  <testcase classname=\"timeloom check\" "
            "name=\"visits(&quot;a?::error::x&quot;) &lt; 1\" file=\"ci_report_test/a,b.py\" "
            "line=\"7\">\n"
            "    <failure type=\"fail\" message=\"5%, a|b\"/>\n"
            "  </testcase>\n"
            "  <testcase classname=\"timeloom check\" name=\"work &lt; 1s\">\n"
            "    <error type=\"error\" message=\"\ufffd not measured\"/>\n"
            "  </testcase>\n"
            "  <testcase classname=\"timeloom check\" name=\"self(g) &lt; 1s\">\n"
            "    <error type=\"undecided\" message=\"lost\"/>\n"
            "  </testcase>\n"
            "  <system-err>9 events could not be recorded</system-err>\n"
            "</testsuite>\n</testsuites>\n");
}

TEST_F(CiReports, GithubHasAnAnnotationForEachProblem) {
  EXPECT_EQ(written(ci_sample(), CiFormat::kGithub),
            "::warning title=timeloom check::run <1>: 9 events could not be recorded\n"
            "::error file=ci_report_test/a%2Cb.py,line=7,title=timeloom check::"
            "visits(\"a?::error::x\") < 1: 5%25, a|b\n"
            "::error title=timeloom check::work < 1s: \ufffd not measured\n"
            "::warning title=timeloom check::self(g) < 1s: lost\n");
}

TEST_F(CiReports, MarkdownIsATable) {
  EXPECT_EQ(written(ci_sample(), CiFormat::kMarkdown),
            "### timeloom check: 1 of 4 passed\n\nrun &lt;1&gt;\n\n"
            "> ! 9 events could not be recorded\n\n"
            "| result | rule | measured | file |\n|---|---|---|---|\n"
            "| pass | total(f) &lt; 2s | 1 s |  |\n"
            "| fail | visits(\"a?::error::x\") &lt; 1 | 5%, a&#124;b | "
            "ci&#95;report&#95;test/a,b.py:7 |\n"
            "| error | work &lt; 1s | \ufffd not measured |  |\n"
            "| undecided | self(g) &lt; 1s | lost |  |\n");
}

}  // namespace
}  // namespace timeloom::tools
