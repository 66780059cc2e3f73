#include <algorithm>

#include "exchange/names.hpp"
#include "tools/report/report_gpu.hpp"
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

std::string caller_name(RegionId region, const Definitions& definitions) {
  return region.defined() ? exchange::region_name(definitions, region) : "(threads without Python)";
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
    if (!facts_.graphs.empty()) graphs();
    if (!facts_.callers.empty()) callers();
    if (!facts_.waiting.empty()) waiting();
    if (!facts_.idle.empty()) idle();
    if (!facts_.memory.empty()) memory();
    if (!facts_.ranges.empty()) ranges();
    if (!facts_.devices.empty()) devices();
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
    if (const std::string shares = gpu_shares(definitions_); !shares.empty()) {
      output_.write(formatted("{}{} of the run", terminal_.dot(), shares));
    }
    output_.write(formatted("{}{} in calls that wait for it\n", terminal_.dot(),
                            duration(facts_.waiting_seconds, terminal_, " ")));
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

  void graphs() {
    Table table(terminal_, 2, "graph");
    for (const char* heading : {"time", "launches", "mean"}) table.add_column(heading);
    for (const GpuGraphRow& row : facts_.graphs) {
      const double all = nanoseconds(row.gpu_ns);
      TableRow shown;
      shown.cells = {time(all), count(row.launches), time(mean_launch(all, row.launches))};
      shown.name = printable(row.name);
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
      const std::string name = printable(caller_name(row.region, definitions_));
      shown.name = name;
      if (!row.most.empty()) shown.name += ": " + shown_name(row.most, 32 + columns(name));
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void waiting() {
    Table table(terminal_, 2, "waits for the GPU in");
    for (const char* heading : {"time", "waits"}) table.add_column(heading);
    for (const GpuWaitRow& row : facts_.waiting) {
      TableRow shown;
      shown.cells = {time(nanoseconds(row.ns)), count(row.times)};
      shown.name = printable(caller_name(row.region, definitions_));
      if (!row.what.empty()) shown.name += ": " + printable(row.what);
      table.add_row(std::move(shown));
    }
    put(table);
  }

  // Regions with less than a hundredth of the time are left to --json.
  void idle() {
    std::uint64_t all = 0;
    for (const GpuIdleRow& row : facts_.idle) all += row.ns;
    Table table(terminal_, 2, "GPU idle during");
    for (const char* heading : {"time", "share"}) table.add_column(heading);
    for (const GpuIdleRow& row : facts_.idle) {
      if (row.ns < all / 100) break;
      const double share = static_cast<double>(row.ns) / static_cast<double>(all);
      TableRow shown;
      shown.cells = {time(nanoseconds(row.ns)), percent(share)};
      shown.name = printable(exchange::region_name(definitions_, row.region));
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void memory() {
    Table table(terminal_, 2, "memory of devices, by function");
    for (const char* heading : {"at peak", "at end", "allocated", "calls"}) {
      table.add_column(heading);
    }
    for (const GpuMemoryRow& row : facts_.memory) {
      TableRow shown;
      shown.cells = {bytes(row.at_peak), bytes(row.at_end), bytes(row.allocated), count(row.calls)};
      shown.name = printable(caller_name(row.region, definitions_));
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void ranges() {
    Table table(terminal_, 2, "range of NVTX");
    for (const char* heading : {"time", "times", "mean"}) table.add_column(heading);
    for (const GpuWorkRow& row : facts_.ranges) {
      const double of_row = seconds(row.ticks, definitions_);
      TableRow shown;
      shown.cells = {time(of_row), count(row.times), time(mean_launch(of_row, row.times))};
      shown.name = shown_name(exchange::region_name(definitions_, row.region), 30);
      table.add_row(std::move(shown));
    }
    put(table);
  }

  void devices() {
    const double length = seconds(definitions_.clock.length, definitions_);
    const auto share = [&](std::uint64_t ns) {
      return length == 0 ? std::string() : percent(nanoseconds(ns) / length);
    };
    Table table(terminal_, 2, "device");
    for (const char* heading : {"busy", "waits", "works", "peak"}) table.add_column(heading);
    for (const GpuDeviceRow& row : facts_.devices) {
      TableRow shown;
      shown.cells = {share(row.busy_ns), share(row.waits_ns), count(row.works),
                     row.peak == 0 ? "" : bytes(row.peak)};
      shown.name = device_name(row);
      table.add_row(std::move(shown));
    }
    put(table);
  }
  std::string device_name(const GpuDeviceRow& row) const {
    std::string name = "CUDA[" + std::to_string(row.device) + "]";
    if (!row.name.empty()) name += " " + printable(row.name);
    if (definitions_.groups.size() > 1) name += ", " + printable(row.process);
    return name;
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

}  // namespace

void write_gpu(const GpuFacts& facts, const Definitions& definitions, const Terminal& terminal,
               Output& output) {
  GpuWriter(facts, definitions, terminal, output).write();
}

}  // namespace timeloom::tools
