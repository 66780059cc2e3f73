#include <algorithm>

#include "exchange/names.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/text_table.hpp"

namespace timeloom::tools {
namespace {

constexpr double kNanosecond = 1e-9;

double nanoseconds(std::uint64_t ns) { return static_cast<double>(ns) * kNanosecond; }

double mean_launch(double sum, std::uint64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::string caller_name(const GpuCallerRow& row, const Definitions& definitions) {
  return row.region.defined() ? exchange::region_name(definitions, row.region)
                              : "(threads without Python)";
}

class GpuWriter {
 public:
  GpuWriter(const GpuFacts& facts, const Definitions& definitions, const Terminal& terminal,
            Output& output)
      : facts_(facts), definitions_(definitions), terminal_(terminal), output_(output) {}

  void write() {
    head();
    if (!facts_.kernels.empty()) kernels();
    if (!facts_.copies.empty()) copies();
    if (!facts_.callers.empty()) callers();
  }

 private:
  std::string time(double seconds) const { return duration(seconds, terminal_); }
  // Names of kernels are long and begin with what tells them apart; the columns of numbers take
  // less than `taken`.
  std::string shown_name(const std::string& name, std::size_t taken) const {
    constexpr std::size_t kLeast = 20;
    const std::size_t room = terminal_.width - std::min(terminal_.width, taken);
    std::string_view shown = name;
    if (shown.starts_with("void ")) shown.remove_prefix(5);
    return shorten_right(printable(std::string(shown)), std::max(room, kLeast), terminal_);
  }

  void head() {
    std::uint64_t ticks = 0;
    for (const auto* rows : {&facts_.kernels, &facts_.copies}) {
      for (const GpuWorkRow& row : *rows) ticks += row.ticks;
    }
    output_.write(
        formatted("{} on the GPU", duration(seconds(ticks, definitions_), terminal_, " ")));
    if (facts_.busy) {
      output_.write(formatted("{}GPU busy {} of the run", terminal_.dot(), percent(*facts_.busy)));
    }
    output_.write(formatted("{}{} in calls that wait for it\n", terminal_.dot(),
                            duration(seconds(facts_.waiting_ticks, definitions_), terminal_, " ")));
  }

  void kernels() {
    Table table(terminal_, 2, "kernel");
    for (const char* heading : {"time", "launches", "mean", "in queue"}) table.add_column(heading);
    for (const GpuWorkRow& row : facts_.kernels) {
      const double seconds_on_gpu = seconds(row.ticks, definitions_);
      TableRow shown;
      shown.cells = {
          time(seconds_on_gpu), count(row.times), time(mean_launch(seconds_on_gpu, row.times)),
          row.queued == 0 ? "" : time(mean_launch(nanoseconds(row.queue_ns), row.queued))};
      shown.name = shown_name(exchange::region_name(definitions_, row.region), 40);
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void copies() {
    Table table(terminal_, 2, "copy");
    for (const char* heading : {"time", "copies", "bytes", "bandwidth"}) table.add_column(heading);
    for (const GpuWorkRow& row : facts_.copies) {
      const double of_row = seconds(row.ticks, definitions_);
      const auto rate =
          static_cast<std::uint64_t>(of_row == 0 ? 0 : static_cast<double>(row.bytes) / of_row);
      TableRow shown;
      shown.cells = {time(of_row), count(row.times), bytes(row.bytes),
                     rate == 0 ? "" : bytes(rate) + "/s"};
      shown.name = printable(exchange::region_name(definitions_, row.region));
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void callers() {
    Table table(terminal_, 2, "started by, and most of it");
    for (const char* heading : {"GPU time", "starts", "in calls"}) table.add_column(heading);
    for (const GpuCallerRow& row : facts_.callers) {
      TableRow shown;
      shown.cells = {time(nanoseconds(row.gpu_ns)), count(row.calls),
                     time(seconds(row.call_ticks, definitions_))};
      const std::string name = printable(caller_name(row, definitions_));
      shown.name = name;
      if (!row.most.empty()) shown.name += ": " + shown_name(row.most, 32 + columns(name));
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void put(const Table& table) {
    output_.write("\n");
    table.write(output_);
  }

  const GpuFacts& facts_;
  const Definitions& definitions_;
  const Terminal& terminal_;
  Output& output_;
};

using nlohmann::ordered_json;

ordered_json gpu_json(const GpuWorkRow& row, const Definitions& definitions) {
  ordered_json result = {
      {"name", exchange::region_name(definitions, row.region)},
      {"times", row.times},
      {"seconds", seconds(row.ticks, definitions)},
      {"queue_seconds",
       row.queued == 0 ? ordered_json() : ordered_json(nanoseconds(row.queue_ns))}};
  return result;
}

}  // namespace

void write_gpu(const GpuFacts& facts, const Definitions& definitions, const Terminal& terminal,
               Output& output) {
  GpuWriter(facts, definitions, terminal, output).write();
}

void write_gpu_json(const GpuFacts& facts, const Definitions& definitions, Output& output) {
  ordered_json all = {{"format", "timeloom-report-gpu"}, {"version", 1}};
  all["busy"] = facts.busy ? ordered_json(*facts.busy) : ordered_json();
  all["waiting_seconds"] = seconds(facts.waiting_ticks, definitions);
  all["kernels"] = all["copies"] = all["callers"] = ordered_json::array();
  for (const GpuWorkRow& row : facts.kernels) all["kernels"].push_back(gpu_json(row, definitions));
  for (const GpuWorkRow& row : facts.copies) {
    ordered_json one = gpu_json(row, definitions);
    one["bytes"] = row.bytes;
    all["copies"].push_back(std::move(one));
  }
  for (const GpuCallerRow& row : facts.callers) {
    all["callers"].push_back(
        {{"function", row.region.defined()
                          ? ordered_json(exchange::region_name(definitions, row.region))
                          : ordered_json()},
         {"starts", row.calls},
         {"gpu_seconds", nanoseconds(row.gpu_ns)},
         {"call_seconds", seconds(row.call_ticks, definitions)},
         {"most", row.most.empty() ? ordered_json() : ordered_json(row.most)}});
  }
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
