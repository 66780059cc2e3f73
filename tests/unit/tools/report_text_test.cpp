#include "tools/report/report_text.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "profile/story.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/tree_glyphs.hpp"

namespace timeloom::tools {
namespace {

using profile::CallTree;
using profile::Story;

// The text that a function writes.
std::string written(const std::function<void(Output&)>& write) {
  std::FILE* file = std::tmpfile();
  Output output(fileno(file));
  write(output);
  output.flush();
  std::string text(static_cast<std::size_t>(ftell(file) + lseek(fileno(file), 0, SEEK_END)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

CallTree solver() {
  Story story;
  story.thread(
      "main",
      "heat.<module> +1 heat.main +1 heat.Solver.run +2 heat.Solver.step +500 "
      "numpy.core.multiarray.dot +90 ) ) heat.Solver.step +400 ) heat.Solver.write +5 ) ) ) )");
  story.definitions().clock.ticks_per_second = 1000;
  for (Region& region : story.definitions().regions) region.file = "/home/me/heat/solver.py";
  return story.fold();
}

std::string tree_text(const CallTree& tree, const Terminal& terminal,
                      const RowOptions& options = {}) {
  const ReportData data(tree, {});
  return written([&](Output& output) { write_tree(data, options, "1 thread", terminal, output); });
}

TEST(ReportText, DrawsTheCallTree) {
  EXPECT_EQ(tree_text(solver(), {80, false, false}, {.sort = {}, .min_percent = 0.8}),
            "\nCall tree  100% = 999 ms in 1 thread\n\n"
            "share   incl   excl visits   mean  region                     file:line\n"
            " 100%  999ms 1.00ms      1  999ms  heat.<module>              heat/solver.py:1\n"
            "99.9%  998ms 1.00ms      1  998ms  heat.main                  heat/solver.py:2\n"
            "99.8%  997ms 2.00ms      1  997ms  heat.Solver.run            heat/solver.py:3\n"
            "99.1%  990ms  900ms      2  495ms  heat.Solver.step           heat/solver.py:4\n"
            " 9.0% 90.0ms 90.0ms      1 90.0ms  numpy.core.multiarray.dot  heat/solver.py:5\n"
            "Not shown: 1 call path below 0.8%, 5.00 ms in all (--min-percent)\n");
}

TEST(ReportText, DrawsTheFlatProfile) {
  const CallTree tree = solver();
  const ReportData data(tree, {});
  const Terminal terminal{80, false, true};
  const RowOptions options{.sort = {}, .min_percent = 9};
  EXPECT_EQ(
      written([&](Output& out) { write_flat(data, options, "1 thread", terminal, out); }),
      "\nFlat profile  100% = 999 ms in 1 thread\n\n"
      "share   excl   incl visits   mean    min    max  region              file:line\n"
      "90.1%  900ms  990ms      2  495ms  400ms  590ms  heat.Solver.step    solver.py:4\n"
      " 9.0% 90.0ms 90.0ms      1 90.0ms 90.0ms 90.0ms  \u2026multiarray.dot     solver.py:5\n"
      "Not shown: 4 regions below 9%, 9.00 ms in all (--min-percent)\n");
}

TEST(ReportText, FitsEveryWidthAndNeverCutsNumbers) {
  const CallTree tree = solver();
  const ReportData data(tree, {});
  for (const bool unicode : {false, true}) {
    for (std::size_t width = 60; width <= 200; ++width) {
      const Terminal terminal{width, false, unicode};
      const std::string text = written([&](Output& output) {
        write_tree(data, {}, "1 thread", terminal, output);
        write_flat(data, {}, "1 thread", terminal, output);
      });
      std::size_t start = 0;
      for (std::size_t end; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
        EXPECT_LE(columns(std::string_view(text).substr(start, end - start)), width);
      }
      EXPECT_NE(text.find("990ms"), std::string::npos) << text;
      EXPECT_NE(text.find("99.1%"), std::string::npos) << text;
    }
  }
}

TEST(ReportText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(tree_text(solver(), {80, false, true}).find('\033'), std::string::npos);
  EXPECT_NE(tree_text(solver(), {80, true, true}).find("\033[1m"), std::string::npos);
}

TEST(ReportText, IsAsciiWithoutAUnicodeLocale) {
  for (const char byte : tree_text(solver(), {70, false, false})) EXPECT_GT(byte, 0);
}

TEST(ReportText, FoldsARecursionIntoOneLine) {
  const CallTree tree = Story().thread("main", "f +1 f +1 f +1 g +1 ) h +1 ) ) ) )").fold();
  const std::string text = tree_text(tree, {80, false, false});
  EXPECT_NE(text.find("f (3 levels)"), std::string::npos) << text;
  EXPECT_NE(text.find("|-g"), std::string::npos) << text;
  EXPECT_NE(text.find("`-h"), std::string::npos) << text;
}

TEST(ReportText, NamesTheLevelsOfAnImportTogether) {
  CallTree tree = Story().thread("main", "_find_and_load +1 _load_unlocked +1 m +1 ) ) )").fold();
  for (Region& region : tree.definitions.regions) {
    if (region.name != "m") region.file = "<frozen importlib._bootstrap>";
  }
  const std::string text = tree_text(tree, {80, false, false});
  EXPECT_NE(text.find("  import (2 levels)\n"), std::string::npos) << text;
}

TEST(ReportText, SaysWhatItLeavesOut) {
  const std::string text =
      tree_text(solver(), {80, false, false}, {.sort = {}, .min_percent = 50, .depth = 3});
  EXPECT_NE(text.find("Not shown: 2 call paths below 50%, 95.0 ms in all (--min-percent)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Not shown: 1 call path below level 3 (--depth)"), std::string::npos) << text;
}

TEST(ReportText, HeadlineWrapsAndWarns) {
  RunFacts facts;
  facts.program = "python3 solver.py --size 512";
  facts.wall_seconds = 12.4;
  facts.threads = 5;
  facts.processes = 2;
  facts.events = 18'312'004;
  facts.host = "node17";
  facts.losses = {"12 events could not be recorded [TL003]"};
  EXPECT_EQ(written([&](Output& out) {
              write_headline(facts, "run", {60, false, false}, out);
            }),
            "python3 solver.py --size 512\n"
            "12.4 s wall time, 5 threads in 2 processes\n"
            "18,312,004 events, node17\n"
            "! 12 events could not be recorded [TL003]\n");
}

TEST(TreeGlyphs, IndentOnlyWhereSeveralAreCalled) {
  TreeGlyphs marks(false);
  EXPECT_EQ(marks.next(0, true, true), "");
  EXPECT_EQ(marks.next(1, true, true), "");
  EXPECT_EQ(marks.next(2, false, false), "|-");
  EXPECT_EQ(marks.next(3, true, true), "| ");
  EXPECT_EQ(marks.next(4, false, false), "| |-");
  EXPECT_EQ(marks.next(4, false, true), "| `-");
  EXPECT_EQ(marks.next(5, true, true), "|   ");
  EXPECT_EQ(marks.next(2, false, true), "`-");
  EXPECT_EQ(marks.next(3, true, true), "  ");
}

TEST(TreeGlyphs, StayShortInDeepTrees) {
  TreeGlyphs marks(false);
  for (std::uint32_t depth = 0; depth < 10'000; ++depth) {
    EXPECT_LE(marks.next(depth, false, false).size(), 128u);
  }
}

}  // namespace
}  // namespace timeloom::tools
