#include "tools/score/score_filter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <system_error>

#include "core/error.hpp"
#include "tools/score/score_text.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {

namespace fs = std::filesystem;

using profile::RegionType;
using profile::Score;
using profile::ScoreProfile;
using profile::ScoreRecord;

namespace {

class FilterText {
 public:
  FilterText(const ScoreProfile& profile, const Score& score, const ScoreOptions& options)
      : profile_(profile),
        score_(score),
        options_(options),
        wanted_(*options.generation),
        prefix_(common_prefix()) {}

  std::string write() && {
    text_ = "# A proposal of what not to record, made by 'timeloom score'.\n#\n";
    text_ += formatted("# made with: -g {}\n", wanted_.text);
    text_ += formatted("# the files named below are in: {}\n\n",
                       prefix_.empty() ? "no directory of all" : printable(prefix_));
    text_ += "SCOREP_REGION_NAMES_BEGIN\n  EXCLUDE\n";
    std::vector<const ScoreRecord*> all;
    for (const ScoreRecord& one : score_.regions) all.push_back(&one);
    all = sorted(std::move(all), options_.key);
    for (const ScoreRecord* one : all) {
      if (!one->filtered && is_wanted(*one)) entry(*one);
    }
    if (options_.filter) {
      text_ += formatted("    # left out already by {}\n\n", printable(*options_.filter));
      for (const ScoreRecord* one : all) {
        if (one->filtered && one->evaluated) entry(*one);
      }
    }
    text_ += "SCOREP_REGION_NAMES_END\n";
    return std::move(text_);
  }

 private:
  const ScoreProfile::Region& record_region(const ScoreRecord& one) const {
    return profile_.regions[static_cast<std::size_t>(&one - score_.regions.data())];
  }

  static bool is_code_of_user(const ScoreRecord& one) {
    return one.type == RegionType::kUser || one.type == RegionType::kCom;
  }

  // The directory, with a slash at its end, that the files of all of them are in.
  std::string common_prefix() const {
    std::optional<std::string> prefix;
    for (const ScoreRecord& one : score_.regions) {
      const std::string& file = record_region(one).file;
      if (!is_code_of_user(one) || file.empty()) continue;
      if (!prefix) prefix = file;
      const auto [end, other] = std::ranges::mismatch(*prefix, file);
      prefix->erase(end, prefix->end());
    }
    if (!prefix) return {};
    prefix->erase(prefix->rfind('/') + 1);
    return *prefix;
  }

  bool is_wanted(const ScoreRecord& one) const {
    if (!one.evaluated || one.visits == 0) return false;
    if (wanted_.everything) {
      return symbol_of(one.type) != '-' && record_region(one).paradigm != "sampling";
    }
    const bool of_type = (wanted_.user && one.type == RegionType::kUser) ||
                         (wanted_.com && one.type == RegionType::kCom);
    const auto bytes = static_cast<double>(one.max_bytes());
    const auto all = static_cast<double>(score_.types[0].max_bytes());
    return of_type && 100 * bytes >= wanted_.buffer_percent * all &&
           one.time_per_visit() <= wanted_.time_per_visit && one.visits >= wanted_.visits &&
           bytes >= wanted_.buffer_megabytes * 1024 * 1024;
  }

  void entry(const ScoreRecord& one) {
    const ScoreProfile::Region& region = record_region(one);
    const double all = score_.types[0].time;
    std::string_view file = region.file;
    if (!prefix_.empty() && file.starts_with(prefix_)) file.remove_prefix(prefix_.size());
    text_ += formatted(
        "    # type={} max_buf={:>11} visits={:>8}, time={:7.2f}s ({:5.1f}%), "
        "time/visit={:8.2f}us\n",
        profile::name_of(one.type), count(one.max_bytes()), count(one.visits), one.time,
        all > 0 ? one.time / all * 100 : 0, one.time_per_visit());
    text_ += formatted("    # name='{}'\n    # file='{}'\n", printable(one.name), printable(file));
    const std::string& mangled = region.mangled_name.empty() ? region.name : region.mangled_name;
    text_ += formatted("    MANGLED {}\n\n", escaped_pattern(printable(mangled)));
  }

  const ScoreProfile& profile_;
  const Score& score_;
  const ScoreOptions& options_;
  const FilterGeneration& wanted_;
  std::string prefix_;
  std::string text_;
};

std::string stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  return {text, std::strftime(text, sizeof text, "_%Y%m%d_%H%M", &local)};
}

}  // namespace

std::string proposed_filter(const ScoreProfile& profile, const Score& score,
                            const ScoreOptions& options) {
  return FilterText(profile, score, options).write();
}

fs::path write_filter(const fs::path& directory, const ScoreOptions& options,
                      const std::string& text) {
  fs::path path =
      directory / (options.generation->everything ? "max_scorep.filter" : "initial_scorep.filter");
  std::error_code error;
  // A link is renamed itself, wherever it leads.
  if (fs::exists(fs::symlink_status(path, error))) {
    fs::rename(path, path.string() + stamp(), error);
    if (error) throw Error("cannot rename " + path.string() + ": " + error.message() + " [TL302]");
  }
  std::FILE* out = std::fopen(path.c_str(), "wbxe");
  bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (out != nullptr) written = std::fclose(out) == 0 && written;
  if (!written)
    throw Error("cannot write " + path.string() + ": " + std::strerror(errno) + " [TL302]");
  return path;
}

}  // namespace timeloom::tools
