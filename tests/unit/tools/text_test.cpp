#include "tools/text/human_text.hpp"

#include <gtest/gtest.h>

namespace timeloom::tools {
namespace {

const Terminal kAscii{80, false, false};
const Terminal kUnicode{80, false, true};

TEST(Text, DurationsHaveThreeDigitsAndAUnit) {
  const std::pair<double, std::string> cases[] = {{0, "0s"},
                                                  {3.85e-10, "0.39ns"},
                                                  {9.994e-9, "9.99ns"},
                                                  {9.996e-9, "10.0ns"},
                                                  {667e-9, "667ns"},
                                                  {999.4e-9, "999ns"},
                                                  {999.6e-9, "1.00us"},
                                                  {12.34e-6, "12.3us"},
                                                  {999.6e-6, "1.00ms"},
                                                  {0.0824, "82.4ms"},
                                                  {0.9996, "1.00s"},
                                                  {12.449, "12.4s"},
                                                  {999.4, "999s"},
                                                  {1234.5, "1234s"},
                                                  {98765.4, "98765s"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(duration(seconds, kAscii), text);
  EXPECT_EQ(duration(5e-6, kUnicode, " "), "5.00 \u00b5s");
}

TEST(Text, CountsAreExactBelowAMillion) {
  EXPECT_EQ(count(0), "0");
  EXPECT_EQ(count(999), "999");
  EXPECT_EQ(count(1000), "1,000");
  EXPECT_EQ(count(UINT64_MAX), "18,446,744,073,709,551,615");
  EXPECT_EQ(short_count(999'999), "999,999");
  EXPECT_EQ(short_count(1'000'000), "1.00M");
  EXPECT_EQ(short_count(999'600'000), "1.00G");
  EXPECT_EQ(short_count(18'312'004), "18.3M");
}

TEST(Text, PercentagesBytesAndPlurals) {
  EXPECT_EQ(percent(1), "100%");
  EXPECT_EQ(percent(0.9994), "99.9%");
  EXPECT_EQ(percent(0.9996), "100%");
  EXPECT_EQ(percent(0.0004), "0.0%");
  EXPECT_EQ(bytes(999), "999 B");
  EXPECT_EQ(bytes(1234), "1.23 kB");
  EXPECT_EQ(bytes(9'323'936), "9.32 MB");
  EXPECT_EQ(plural(1, "thread"), "1 thread");
  EXPECT_EQ(threads_and_tasks(1, 0, 0), "1 thread");
  EXPECT_EQ(threads_and_tasks(2, 1, 0), "2 threads and 1 task");
  EXPECT_EQ(threads_and_tasks(1, 100000, 3), "1 thread and 100,000 tasks on 3 lanes");
  EXPECT_EQ(threads_and_tasks(8, 0, 1), "8 threads and 1 lane");  // of transfers of an engine
  EXPECT_EQ(plural(2000, "process"), "2,000 processes");
}

TEST(Text, TimesOfDay) {
  EXPECT_EQ(iso_time(1'700'000'000'123'456'789), "2023-11-14T22:13:20.123Z");
}

TEST(Text, NamesCannotCommandTheTerminal) {
  EXPECT_EQ(printable("a\033[31mb\nc\x7f"), "a?[31mb?c?");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a?31m");
  EXPECT_EQ(printable("gr\u00f6\u00dfe"), "gr\u00f6\u00dfe");
}

TEST(Text, NamesCannotTurnTheTextAround) {
  for (const char* const one :
       {"\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202b", "\u202c", "\u202d",
        "\u202e", "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(printable(std::string("a") + one + "b"), "a?b");
  }
  EXPECT_EQ(printable("\u200d\u2010\u2027\u202f\u2065\u206a"),
            "\u200d\u2010\u2027\u202f\u2065\u206a");
  EXPECT_EQ(printable("\x9b"), "?");
}

TEST(Text, ColumnsOfCharacters) {
  EXPECT_EQ(columns("abc"), 3u);
  EXPECT_EQ(columns("gr\u00f6\u00dfe"), 5u);
  EXPECT_EQ(columns("e\u0301"), 1u);
  EXPECT_EQ(columns("\u8a08\u7b97"), 4u);
}

TEST(Text, ShortensNamesAtTheirParts) {
  EXPECT_EQ(shorten_left("heat.Solver.step", 16, kAscii), "heat.Solver.step");
  EXPECT_EQ(shorten_left("heat.Solver.step", 15, kAscii), "...Solver.step");
  EXPECT_EQ(shorten_left("heat.Solver.step", 12, kUnicode), "\u2026Solver.step");
  EXPECT_EQ(shorten_left("heat.Solver.step", 11, kUnicode), "\u2026olver.step");
  EXPECT_EQ(shorten_left("a_very_long_name", 8, kAscii), "..._name");
  EXPECT_EQ(shorten_right("a_very_long_name", 8, kAscii), "a_ver...");
  EXPECT_EQ(shorten_path("/usr/lib/json/encoder.py:12", 18, kAscii), "json/encoder.py:12");
  EXPECT_EQ(shorten_path("/usr/lib/json/encoder.py:12", 17, kAscii), "encoder.py:12");
  EXPECT_EQ(shorten_path("/usr/lib/json/encoder.py:12", 8, kAscii), "...py:12");
  EXPECT_EQ(shorten_path("/usr/lib/json/encoder.py:12", 12, kUnicode), "\u2026coder.py:12");
  EXPECT_EQ(shorten_file("/usr/lib/json/encoder.py", 24, kUnicode), "/usr/lib/json/encoder.py");
  EXPECT_EQ(shorten_file("/usr/lib/json/encoder.py", 23, kUnicode), "\u2026/lib/json/encoder.py");
  EXPECT_EQ(shorten_file("/usr/lib/json/encoder.py", 12, kUnicode), "\u2026/encoder.py");
  EXPECT_EQ(shorten_file("/usr/lib/json/encoder.py", 10, kUnicode), "encoder.py");
  EXPECT_EQ(shorten_file("/usr/lib/json/encoder.py", 9, kAscii), "enco...py");
}

TEST(Text, NeverShortensToMoreThanTheWidth) {
  const std::string name = "m\u00f6dul.\u8a08\u7b97.Kla\u00dfe.<locals>.f\u00fcnc";
  for (const Terminal& terminal : {kAscii, kUnicode}) {
    for (std::size_t width = 3; width < 40; ++width) {
      EXPECT_LE(columns(shorten_left(name, width, terminal)), width);
      EXPECT_LE(columns(shorten_right(name, width, terminal)), width);
      EXPECT_LE(columns(shorten_path(name, width, terminal)), width);
      EXPECT_LE(columns(shorten_file(name, width, terminal)), width);
    }
  }
}

TEST(Text, ShortensHugeNames) {
  const std::string name(1 << 20, 'x');
  EXPECT_EQ(shorten_left(name, 10, kAscii), "...xxxxxxx");
  EXPECT_EQ(shorten_right(name, 10, kAscii), "xxxxxxx...");
}

}  // namespace
}  // namespace timeloom::tools
