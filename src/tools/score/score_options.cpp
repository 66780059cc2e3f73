#include "tools/score/score_options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace timeloom::tools {

namespace {

constexpr char kUsage[] = R"(usage: scorep-score [options] PROFILE
       timeloom score [options] PROFILE

Says how large a trace of the profiled program would be, and what to leave out
of it. PROFILE is a .cubex file or the directory of a run, and comes last.

  -h, --help   print this help
  -r           show all regions
  -f FILTER    show the result with this filter file applied
  -c NUM       that many counters will be recorded with every event (default: 0)
  -m           show mangled names of regions
  -s KEY       sort by maxbuffer (default), totaltime, timepervisit, visits or name
  -g [LIST]    write initial_scorep.filter, a first filter; LIST is made of
                 bufferpercent=N    at least N % of the largest buffer (default: 1)
                 bufferabsolute=N   at least N MB of it (default: 0)
                 visits=N           at least N visits (default: 0)
                 timepervisit=N     at most N microseconds a visit (default: 1)
                 type=usr|com|both  of these types (default: usr)
                 all                whatever can be filtered, into max_scorep.filter
               with commas between them

Exit status: 0 done, 1 something was wrong.
)";

bool is_option(const std::string& word) { return word.starts_with('-'); }

// The choices of -g as they are compared: without blanks, in lower case.
std::string folded_word(const std::string& text) {
  std::string result;
  for (const char byte : text) {
    const auto letter = static_cast<unsigned char>(byte);
    if (std::isspace(letter) == 0) result += static_cast<char>(std::tolower(letter));
  }
  return result;
}

double to_double(const std::string& text, const std::string& key) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  if (!whole || !std::isfinite(number)) {
    throw ScoreUsage("The value of '" + key + "' is not a number: '" + text + "'");
  }
  if (number < 0) {
    throw ScoreUsage("The value of '" + key + "' cannot be less than zero: '" + text + "'");
  }
  return number;
}

std::uint64_t to_count(const std::string& text, const std::string& key) {
  const double number = to_double(text, key);
  if (number != std::floor(number) || number > 1e18) {
    throw ScoreUsage("The value of '" + key + "' is not a whole number: '" + text + "'");
  }
  return static_cast<std::uint64_t>(number);
}

void set_type(const std::string& type, FilterGeneration& to) {
  if (type != "usr" && type != "com" && type != "both") {
    throw ScoreUsage("The value of 'type' is none of usr, com, both: '" + type + "'");
  }
  to.user = type != "com";
  to.com = type != "usr";
}

void set_one(const std::string& word, FilterGeneration& to) {
  if (word == "all") {
    to.everything = true;
    return;
  }
  const std::size_t sign = word.find('=');
  const std::string key = word.substr(0, sign);
  const std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
  if (sign != std::string::npos && key == "bufferpercent") {
    to.buffer_percent = to_double(value, key);
    if (to.buffer_percent > 100) {
      throw ScoreUsage("The value of 'bufferpercent' is more than 100: '" + value + "'");
    }
  } else if (sign != std::string::npos && key == "bufferabsolute") {
    to.buffer_megabytes = to_double(value, key);
  } else if (sign != std::string::npos && key == "visits") {
    to.visits = to_count(value, key);
  } else if (sign != std::string::npos && key == "timepervisit") {
    to.time_per_visit = to_double(value, key);
  } else if (sign != std::string::npos && key == "type") {
    set_type(value, to);
  } else {
    throw ScoreUsage("Invalid filter generation option:\"" + word + "\"");
  }
}

FilterGeneration parse_generation(const std::string& list) {
  FilterGeneration result;
  const std::string text = folded_word(list);
  if (text.empty()) return result;
  result.text = text;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at) set_one(text.substr(at, end - at), result);
    at = end + 1;
  }
  return result;
}

ScoreKey parse_key(const std::string& word) {
  constexpr std::pair<std::string_view, ScoreKey> kKeys[] = {
      {"maxbuffer", ScoreKey::kMaxBuffer},
      {"totaltime", ScoreKey::kTotalTime},
      {"timepervisit", ScoreKey::kTimePerVisit},
      {"visits", ScoreKey::kVisits},
      {"name", ScoreKey::kName},
  };
  for (const auto& [name, key] : kKeys) {
    if (name == word) return key;
  }
  throw ScoreUsage("Unknown sorting choice");
}

std::uint64_t parse_counters(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number > 1'000'000) {
    throw ScoreUsage("The number of hardware counters is not a number: '" + word + "'");
  }
  if (number < 0) {
    throw ScoreUsage("The number of hardware counters cannot be less than zero: '" + word + "'");
  }
  return static_cast<std::uint64_t>(number);
}

}  // namespace

std::string score_help() { return kUsage; }

ScoreOptions parse_score_options(const std::vector<std::string>& words) {
  ScoreOptions options;
  const auto is_help = [](const std::string& word) { return word == "-h" || word == "--help"; };
  options.help = words.empty() || std::ranges::any_of(words, is_help);
  if (options.help) return options;
  options.profile = words.back();
  const std::size_t end = words.size() - 1;
  std::size_t at = 0;
  const auto value = [&](const char* missing) {
    if (at + 1 >= end) throw ScoreUsage(missing);
    return words[++at];
  };
  for (; at < end; ++at) {
    const std::string& word = words[at];
    if (word == "-r") {
      options.regions = true;
    } else if (word == "-m") {
      options.mangled = true;
    } else if (word == "-f") {
      options.filter = value("No filter file specified");
    } else if (word == "-c") {
      options.counters = parse_counters(value("Missing number of hardware counters"));
    } else if (word == "-s") {
      options.key = parse_key(value("No sorting mode specified"));
    } else if (word == "-g") {
      const bool listed = at + 1 < end && !is_option(words[at + 1]);
      options.generation = parse_generation(listed ? words[++at] : "");
    } else {
      throw ScoreUsage("Unknown argument: '" + word + "'");
    }
  }
  return options;
}

}  // namespace timeloom::tools
