#include "tools/report/native/report_native.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>

#include "core/run_properties.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

constexpr double kNano = 1e-9;
constexpr std::uint64_t kFewSamples = 10;    // too few for shares
constexpr std::size_t kMostParts = 3;        // of a line
constexpr double kLeastPart = 0.02;          // of the own time, for a place in a line
constexpr std::size_t kMostNativeRows = 40;  // --json has all

double sampled_seconds(std::uint64_t ns) { return static_cast<double>(ns) * kNano; }

double share_of(std::uint64_t ns, std::uint64_t all) {
  return all == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(all);
}

// A function of a library, over all callers.
struct NativeRow {
  NativePart part;
  std::string file;                            // the library, as it is named on disk
  std::vector<const run::SampleRow*> callers;  // by their time
};

// The rows of samples come by their time, the most first.
std::vector<NativeRow> native_rows(const NativeTimes& times) {
  std::map<std::pair<std::string, std::string>, NativeRow> rows;
  for (const run::SampleRow& from : times.rows()) {
    NativeRow& row = rows[{from.library, from.symbol}];
    row.file = from.library;
    row.part.library = library_label(from.library);
    row.part.function = from.symbol;
    row.part.samples += from.samples;
    row.part.ns += from.ns;
    row.callers.push_back(&from);
  }
  std::vector<NativeRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(
      sorted, [](const NativeRow& a, const NativeRow& b) { return a.part.ns > b.part.ns; });
  return sorted;
}

std::uint64_t native_property(const Definitions& definitions, const char* key) {
  const auto found = definitions.properties.find(key);
  return found == definitions.properties.end() ? 0
                                               : std::strtoull(found->second.c_str(), nullptr, 10);
}

std::uint64_t all_ns(const NativeTimes& times) {
  std::uint64_t sum = 0;
  for (const run::SampleRow& row : times.rows()) sum += row.ns;
  return sum;
}

std::uint64_t all_samples(const NativeTimes& times) {
  std::uint64_t sum = 0;
  for (const run::SampleRow& row : times.rows()) sum += row.samples;
  return sum;
}

struct CallerText {
  std::string name, others;
};

CallerText caller_text(const NativeRow& row) {
  const run::SampleRow& most = *row.callers.front();
  const std::size_t others = row.callers.size() - 1;
  return {most.function.empty() ? "(no recorded function)" : printable(most.function),
          others == 0 ? "" : formatted(" +{}", others)};
}

std::string whole_percent(double share) { return formatted("{:.0f}%", share * 100); }

// The columns of two names, the second of which gets a third of the room at most.
struct NameWidths {
  NameWidths(std::span<const NativeRow> rows, std::size_t room) {
    for (const NativeRow& row : rows) {
      const CallerText text = caller_text(row);
      caller = std::max(caller, columns(text.name) + text.others.size());
      name = std::max(name, columns(printable(part_name(row.part))));
    }
    caller = std::min(caller, room / 3);
    name = std::min(name, room - caller - 2);
  }
  std::size_t name = 17, caller = 0;
};

void write_native_rows(std::span<const NativeRow> rows, std::uint64_t all, const Terminal& terminal,
                       Output& output) {
  constexpr std::size_t kNumbers = 24, kLeastRoom = 48;
  const NameWidths widths(rows, std::max(terminal.width, kNumbers + kLeastRoom) - kNumbers);
  output.write(terminal.paint(" share    time samples  ", Ink::kDim) +
               terminal.paint(pad_right("compiled function", widths.name + 2), Ink::kAccent) +
               terminal.paint("caller (+ others)", Ink::kDim) + "\n");
  for (const NativeRow& row : rows) {
    const std::string name = shorten_right(printable(part_name(row.part)), widths.name, terminal);
    const CallerText text = caller_text(row);
    const std::size_t room = widths.caller - std::min(widths.caller, text.others.size());
    output.write(formatted("{} {} {}  {}  {}{}\n", pad_left(percent(share_of(row.part.ns, all)), 6),
                           pad_left(duration(sampled_seconds(row.part.ns), terminal), 7),
                           pad_left(count(row.part.samples), 7), pad_right(name, widths.name),
                           shorten_left(text.name, room, terminal), text.others));
  }
}

}  // namespace

std::string native_line(const NativeShares& shares, std::size_t room, const Terminal& terminal) {
  constexpr std::size_t kForShare = 5;
  if (shares.samples < kFewSamples) return {};
  std::string line;
  std::size_t parts = 0;
  for (const NativePart& part : shares.parts) {
    const double share = share_of(part.ns, shares.ns);
    if (parts++ == kMostParts || share < kLeastPart) break;
    const std::size_t longest = room - std::min(room, kForShare);
    const std::string name = shorten_right(printable(part_name(part)), longest, terminal);
    const std::string text = (line.empty() ? "" : ", ") + name + " " + whole_percent(share);
    if (!line.empty() && columns(line) + columns(text) > room) break;
    line += text;
  }
  return line;
}

void write_native(const NativeTimes& times, const Definitions& definitions,
                  const Terminal& terminal, Output& output) {
  const std::vector<NativeRow> rows = native_rows(times);
  const std::uint64_t all = all_ns(times);
  output.write(formatted(
      "{} of CPU time in {}, one every {}\n\n", duration(sampled_seconds(all), terminal, " "),
      plural(all_samples(times), "sample"),
      duration(sampled_seconds(native_property(definitions, kSamplePeriod)), terminal, " ")));
  if (rows.empty()) return;
  write_native_rows(std::span(rows).first(std::min(rows.size(), kMostNativeRows)), all, terminal,
                    output);
  if (rows.size() > kMostNativeRows) {
    output.write(formatted("and {} more: --json\n", rows.size() - kMostNativeRows));
  }
}

void write_native_json(const NativeTimes& times, const Definitions& definitions, Output& output) {
  using nlohmann::ordered_json;
  ordered_json all = {{"format", "timeloom-report-native"},
                      {"version", 1},
                      {"samples", all_samples(times)},
                      {"lost_samples", native_property(definitions, kSamplesLost)},
                      {"period_s", sampled_seconds(native_property(definitions, kSamplePeriod))},
                      {"seconds", sampled_seconds(all_ns(times))},
                      {"functions", ordered_json::array()}};
  for (const NativeRow& row : native_rows(times)) {
    ordered_json callers = ordered_json::array();
    for (const run::SampleRow* const caller : row.callers) {
      callers.push_back(
          {{"function", caller->function.empty() ? ordered_json() : ordered_json(caller->function)},
           {"file", caller->file},
           {"line", caller->line},
           {"samples", caller->samples},
           {"seconds", sampled_seconds(caller->ns)}});
    }
    all["functions"].push_back({{"library", row.file},
                                {"function", row.part.function},
                                {"samples", row.part.samples},
                                {"seconds", sampled_seconds(row.part.ns)},
                                {"callers", std::move(callers)}});
  }
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

void write_native_of_function(const NativeShares& shares, const Terminal& terminal,
                              Output& output) {
  if (shares.samples == 0) return;
  constexpr std::size_t kMostLines = 12;
  output.write(terminal.paint(" share   time samples  ", Ink::kDim) +
               terminal.paint("own time in compiled code, from samples", Ink::kAccent) + "\n");
  for (std::size_t i = 0; i < std::min(shares.parts.size(), kMostLines); ++i) {
    const NativePart& part = shares.parts[i];
    output.write(formatted("{} {} {}  {}\n", pad_left(percent(share_of(part.ns, shares.ns)), 6),
                           pad_left(duration(sampled_seconds(part.ns), terminal), 6),
                           pad_left(count(part.samples), 7), printable(part_name(part))));
  }
}

}  // namespace timeloom::tools
