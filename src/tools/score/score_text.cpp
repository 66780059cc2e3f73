#include "tools/score/score_text.hpp"

#include <algorithm>

#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

using profile::RegionType;
using profile::Score;
using profile::ScoreProfile;
using profile::ScoreRecord;

namespace {

// The least that a row needs for each column.
struct Widths {
  std::size_t type = 8;
  std::size_t bytes = 10;
  std::size_t visits = 6;
  std::size_t hits = 4;
  std::size_t time = 7;
  std::size_t per_visit = 14;
};

class ScoreTables {
 public:
  ScoreTables(const ScoreProfile& profile, const Score& score, const ScoreOptions& options)
      : profile_(profile),
        score_(score),
        options_(options),
        all_(score.types[0]),
        key_(profile.sampled_calls && options.key == ScoreKey::kMaxBuffer ? ScoreKey::kTotalTime
                                                                          : options.key) {
    if (profile.sampled_calls) {
      widths_.visits = 7;
      widths_.per_visit = 15;
    }
    widths_.bytes = std::max(widths_.bytes, count(all_.max_bytes()).size());
    widths_.visits = std::max(widths_.visits, count(all_.visits).size());
    widths_.hits = std::max(widths_.hits, count(all_.hits).size());
    widths_.time = std::max(widths_.time, formatted("{:.2f}", all_.time).size());
    widths_.per_visit =
        std::max(widths_.per_visit, formatted("{:.2f}", all_.time_per_visit()).size());
  }

  std::string write() && {
    estimates();
    heading();
    const bool filtered = options_.filter.has_value();
    for (const ScoreRecord* one : sorted(pointers(score_.types), key_)) {
      row(*one, filtered ? '-' : ' ', one->name);
    }
    if (filtered) filtered_types();
    if (options_.regions) regions();
    return std::move(text_);
  }

 private:
  template <typename Records>
  static std::vector<const ScoreRecord*> pointers(const Records& records) {
    std::vector<const ScoreRecord*> result;
    for (const ScoreRecord& one : records) result.push_back(&one);
    return result;
  }

  void estimates() {
    if (profile_.sampled_calls) {
      text_ +=
          "\nThe calls of this run are made of samples (--sampling): how large a trace of calls\n"
          "would be is not known. For an estimate, record calls: timeloom run --profile\n\n";
      return;
    }
    const ScoreRecord& traced = options_.filter ? score_.filtered_types[0] : all_;
    const std::uint64_t memory = memory_requirement(profile_, traced.max_bytes());
    text_ += formatted(
        "\nEstimated aggregate size of event trace:                   {}\n"
        "Estimated requirements for largest trace buffer (max_buf): {}\n"
        "Estimated memory requirements (SCOREP_TOTAL_MEMORY):       {}\n",
        score_size(traced.total_bytes()), score_size(traced.max_bytes()), score_size(memory));
    if (memory > UINT32_MAX) {
      text_ +=
          "(warning: No process can have that much memory for its trace. Set\n"
          " SCOREP_TOTAL_MEMORY=4G to avoid most intermediate flushes, or reduce\n"
          " requirements using USR regions filters.)\n\n";
      return;
    }
    text_ += formatted(
        "(hint: When tracing set SCOREP_TOTAL_MEMORY={} to avoid intermediate flushes\n"
        " or reduce requirements using USR regions filters.)\n\n",
        score_size(memory));
  }

  void heading() {
    const bool sampled = profile_.sampled_calls;
    text_ += "flt " + pad_left("type", widths_.type) + ' ';
    if (!sampled) text_ += pad_left("max_buf[B]", widths_.bytes) + ' ';
    text_ += pad_left(sampled ? "samples" : "visits", widths_.visits) + ' ';
    if (profile_.sampled) text_ += pad_left("hits", widths_.hits) + ' ';
    text_ += pad_left("time[s]", widths_.time) + " time[%] " +
             pad_left(sampled ? "time/sample[us]" : "time/visit[us]", widths_.per_visit) +
             "  region\n";
  }

  void row(const ScoreRecord& one, char symbol, const std::string& name) {
    if (one.total_bytes() == 0) return;
    const double share = all_.time > 0 ? one.time / all_.time * 100 : 0;
    text_ += formatted(" {}  {:>{}} ", symbol, type_name(one.type), widths_.type);
    if (!profile_.sampled_calls) text_ += pad_left(count(one.max_bytes()), widths_.bytes) + ' ';
    text_ += pad_left(count(one.visits), widths_.visits) + ' ';
    if (profile_.sampled) text_ += pad_left(count(one.hits), widths_.hits) + ' ';
    text_ += formatted("{:>{}.2f} {:>7.1f} {:>{}.2f}  {}\n", one.time, widths_.time, share,
                       one.time_per_visit(), widths_.per_visit, printable(name));
  }

  static std::string type_name(RegionType type) { return std::string(profile::name_of(type)); }

  void filtered_types() {
    text_ += '\n';
    std::vector<const ScoreRecord*> others = pointers(score_.filtered_types);
    row(*others.front(), symbol_of(RegionType::kAll), others.front()->name);
    others.erase(others.begin());
    for (const ScoreRecord* one : sorted(others, key_)) {
      row(*one, symbol_of(one->type), one->name);
    }
  }

  void regions() {
    text_ += '\n';
    for (const ScoreRecord* one : sorted(pointers(score_.regions), key_)) {
      char symbol = ' ';
      if (options_.filter && one->evaluated) symbol = one->filtered ? '+' : '-';
      row(*one, symbol, record_name(*one));
    }
  }

  std::string record_name(const ScoreRecord& one) const {
    if (!options_.mangled) return one.name;
    const auto index = static_cast<std::size_t>(&one - score_.regions.data());
    const std::string& mangled = profile_.regions[index].mangled_name;
    return symbol_of(one.type) == '-' ? mangled : escaped_pattern(mangled);
  }

  const ScoreProfile& profile_;
  const Score& score_;
  const ScoreOptions& options_;
  const ScoreRecord& all_;
  const ScoreKey key_;
  Widths widths_;
  std::string text_;
};

bool comes_before(const ScoreRecord& a, const ScoreRecord& b, ScoreKey key) {
  switch (key) {
    case ScoreKey::kMaxBuffer: return a.max_bytes() > b.max_bytes();
    case ScoreKey::kTotalTime: return a.time > b.time;
    case ScoreKey::kTimePerVisit: return a.time_per_visit() < b.time_per_visit();
    case ScoreKey::kVisits: return a.visits > b.visits;
    case ScoreKey::kName: return a.name < b.name;
  }
  return false;
}

}  // namespace

std::string score_size(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {" bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes > 4096; bytes /= 1024) ++unit;
  return formatted("{}{}", bytes + 1, kUnits[unit]);
}

std::string escaped_pattern(std::string_view name) {
  std::string result;
  for (const char byte : name) {
    if (std::string_view(" ][*!").find(byte) != std::string_view::npos) result += '\\';
    result += byte;
  }
  return result;
}

std::vector<const ScoreRecord*> sorted(std::vector<const ScoreRecord*> records, ScoreKey key) {
  std::ranges::stable_sort(records, [key](const ScoreRecord* a, const ScoreRecord* b) {
    return comes_before(*a, *b, key);
  });
  return records;
}

std::string score_text(const ScoreProfile& profile, const Score& score,
                       const ScoreOptions& options) {
  return ScoreTables(profile, score, options).write();
}

}  // namespace timeloom::tools
