#include "exchange/format_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace timeloom::exchange {
namespace {

constexpr char kNone[] = "\xef\xbf\xbd";

TEST(Utf8, leaves_what_is_valid) {
  for (const std::string text : {"", "plain", "k\xc3\xa4se", "\xe2\x82\xac", "\xf0\x9f\x90\x8d",
                                 "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd", "\xc2\x80"}) {
    EXPECT_EQ(utf8(text), text);
  }
  const std::string zero("a\0b", 3);
  EXPECT_EQ(utf8(zero), zero);
}

TEST(Utf8, replaces_each_byte_that_is_none) {
  EXPECT_EQ(utf8("a\xff z"), std::string("a") + kNone + " z");
  EXPECT_EQ(utf8("\x80"), kNone);                                       // a continuation without a
                                                                        // start
  EXPECT_EQ(utf8("\xc0\xaf"), std::string(kNone) + kNone);              // an overlong form
  EXPECT_EQ(utf8("\xe0\x80\xaf"), std::string(kNone) + kNone + kNone);  // the same
  EXPECT_EQ(utf8("\xed\xa0\x80"), std::string(kNone) + kNone + kNone);  // a surrogate
  EXPECT_EQ(utf8("\xf4\x90\x80\x80"), std::string(kNone) + kNone + kNone + kNone);  // too large
  EXPECT_EQ(utf8("\xf5"), kNone);
  EXPECT_EQ(utf8("\xe2\x82"), std::string(kNone) + kNone);  // cut off
  EXPECT_EQ(utf8("\xf0\x9f\x90"), std::string(kNone) + kNone + kNone);
  EXPECT_EQ(utf8("\xc3"
                 "a"),
            std::string(kNone) + "a");
}

TEST(OneLine, has_no_control_characters) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[0m\x7f\xc2\x85"), "a?b?c?[0m??");
  EXPECT_EQ(one_line("\u061c\u200f\u2028\u202e\u2069\u2027\u00a0"), "?????\u2027\u00a0");
  EXPECT_EQ(one_line("k\xc3\xa4se\xff"), std::string("k\xc3\xa4se") + kNone);
}

std::string json(std::string_view text) {
  std::string result;
  append_json(result, text);
  return result;
}

TEST(Json, quotes) {
  EXPECT_EQ(json("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(json(std::string("\n\0\x1f\x7f", 4)), R"("\u000a\u0000\u001f\u007f")");
  EXPECT_EQ(json("\u0080\u009b\u009f\u061c\u200e\u2028\u2029\u202e\u2066\u2069"),
            R"("\u0080\u009b\u009f\u061c\u200e\u2028\u2029\u202e\u2066\u2069")");
  EXPECT_EQ(json("\u00a0\u061b\u200d\u2027\u202f\u2065\u206a\U0001202e"),
            "\"\u00a0\u061b\u200d\u2027\u202f\u2065\u206a\U0001202e\"");
  EXPECT_EQ(json("\xff"), std::string("\"") + kNone + "\"");
}

TEST(Json, OfOthersIsEscapedToo) {
  EXPECT_EQ(without_commands("{\"a\": \"\x7f\u00b0\u009b\u2026\u2028\u202e\"}\n"),
            "{\"a\": \"\\u007f\u00b0\\u009b\u2026\\u2028\\u202e\"}\n");
  EXPECT_EQ(without_commands("[\"\u2028\u2028\"]"), "[\"\\u2028\\u2028\"]");
  EXPECT_EQ(without_commands("[1]\n"), "[1]\n");
}

constexpr char kUnseen[] = "\u200b\u2060\u2064\ufeff\ufff9\ufffb\U000e0001\U000e0041\U000e007f";
constexpr char kUnseenEscaped[] =
    R"(\u200b\u2060\u2064\ufeff\ufff9\ufffb\udb40\udc01\udb40\udc41\udb40\udc7f)";
constexpr char kOthers[] = "\u200a\u200c\u2065\ufefe\ufffc\U000e0100";

TEST(Json, CharactersThatNobodySeesAreEscaped) {
  EXPECT_EQ(json(kUnseen), std::string("\"") + kUnseenEscaped + "\"");
  EXPECT_EQ(json(kOthers), std::string("\"") + kOthers + "\"");
  EXPECT_EQ(without_commands(std::string("[\"") + kUnseen + kOthers + "\"]"),
            std::string("[\"") + kUnseenEscaped + kOthers + "\"]");
}

std::string csv(std::string_view text) {
  std::string result;
  append_csv(result, text);
  return result;
}

TEST(Csv, quotes_only_where_it_must) {
  EXPECT_EQ(csv("plain; text"), "plain; text");
  EXPECT_EQ(csv(kUnseen), kUnseenEscaped);
  EXPECT_EQ(csv("a,b"), "\"a,b\"");
  EXPECT_EQ(csv("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv("a\tb"), "a\tb");
}

TEST(Csv, commands_no_terminal) {
  EXPECT_EQ(csv("a\rb\x1b[31m\x7f\u009b\u202e\u2028"),
            R"(a\u000db\u001b[31m\u007f\u009b\u202e\u2028)");
  EXPECT_EQ(csv("a\n\"\u2029"), "\"a\n\"\"\\u2029\"");
}

TEST(Numbers, are_exact) {
  std::string text;
  append_microseconds(text, 1'234'567);
  text += ' ';
  append_microseconds(text, 5);
  text += ' ';
  append_microseconds(text, std::numeric_limits<std::uint64_t>::max());
  text += ' ';
  append_json_number(text, 0.1);
  text += ' ';
  append_json_number(text, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(text, "1234.567 0.005 18446744073709551.615 0.1 null");
}

}  // namespace
}  // namespace timeloom::exchange
