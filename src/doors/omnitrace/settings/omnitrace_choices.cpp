#include "doors/omnitrace/settings/omnitrace_choices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "core/error.hpp"
#include "settings/setting_words.hpp"

namespace timeloom {

namespace {

constexpr char kPeriods[] = "OMNITRACE_TRACE_PERIODS";
constexpr char kEnabled[] = "OMNITRACE_ENABLE_CATEGORIES";
constexpr char kDisabled[] = "OMNITRACE_DISABLE_CATEGORIES";
constexpr std::array<std::string_view, 3> kCategories = {"python", "user", "mpi"};

[[noreturn]] void refuse_choice(const std::string& periods) {
  throw Error(
      std::string(kPeriods) + ": '" + periods +
      "' cannot be read; write delay:duration, in seconds, and perhaps :repeat and :clock [TL709]");
}

double seconds_of(const std::string& word, const std::string& periods) {
  double seconds = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, seconds);
  const bool good = read.ec == std::errc{} && read.ptr == end && is_plausible(seconds);
  if (!good) refuse_choice(periods);
  return seconds;
}

struct Periods {
  TraceWindow first;
  bool more = false;  // than one window
  bool monotonic = true;
};

Periods read_periods(const std::string& text) {
  Periods periods;
  const std::vector<std::string> all = split(text, "; ,\t");
  if (all.empty()) refuse_choice(text);
  const std::vector<std::string> parts = split(all.front(), ":");
  if (parts.size() < 2 || parts.size() > 4) refuse_choice(text);
  periods.first = {seconds_of(parts[0], text), seconds_of(parts[1], text)};
  const double repeat = parts.size() > 2 ? seconds_of(parts[2], text) : 1;
  periods.more = all.size() > 1 || repeat != 1;
  if (parts.size() == 4) periods.monotonic = lower(parts[3]).find("monotonic") != std::string::npos;
  return periods;
}

std::vector<std::string> categories_in(const OmnitraceSettings& omnitrace, const char* variable) {
  return split(lower(omnitrace.text(variable)), ",;: \t");
}

bool holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

TraceWindow trace_window(const OmnitraceSettings& omnitrace) {
  if (omnitrace.given(kPeriods)) return read_periods(omnitrace.text(kPeriods)).first;
  return {omnitrace.real("OMNITRACE_TRACE_DELAY"), omnitrace.real("OMNITRACE_TRACE_DURATION")};
}

std::vector<std::string> categories_left_out(const OmnitraceSettings& omnitrace) {
  const bool only = omnitrace.given(kEnabled), without = omnitrace.given(kDisabled);
  if (only && without) {
    throw Error(std::string(kEnabled) + " and " + kDisabled + " do not go together [TL710]");
  }
  std::vector<std::string> left_out;
  if (!only && !without) return left_out;
  const std::vector<std::string> named = categories_in(omnitrace, only ? kEnabled : kDisabled);
  for (const std::string_view one : kCategories) {
    if (holds(named, one) != only) left_out.emplace_back(one);
  }
  return left_out;
}

std::vector<std::string> unmet_choices(const OmnitraceSettings& omnitrace) {
  std::vector<std::string> lines;
  if (omnitrace.given(kPeriods)) {
    const std::string text = omnitrace.text(kPeriods);
    const Periods periods = read_periods(text);
    const std::string begin = std::string(kPeriods) + "=" + text + ": ";
    if (periods.more) lines.push_back(begin + "only the first window is recorded [TL708]");
    if (!periods.monotonic)
      lines.push_back(begin + "time is measured with CLOCK_MONOTONIC [TL708]");
  }
  (void)categories_left_out(omnitrace);
  for (const char* variable : {kEnabled, kDisabled}) {
    for (const std::string& one : categories_in(omnitrace, variable)) {
      if (std::ranges::find(kCategories, one) != kCategories.end()) continue;
      lines.push_back(std::string(variable) + ": there is no category " + one +
                      " here; there are python, user and mpi [TL708]");
    }
  }
  return lines;
}

}  // namespace timeloom
