// The tables of `timeloom report --gpu`, in the terminal and as JSON.
#include <algorithm>

#include "exchange/names.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/report/table/row_table.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

double nanoseconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

double mean_launch(double sum, std::uint64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::string bytes_if_any(std::uint64_t size) { return size == 0 ? "" : bytes(size); }

// Names of kernels are long and begin with what tells them apart; the columns of numbers take less
// than `taken`.
std::string kernel_name(const std::string& name, std::size_t taken, const Terminal& terminal) {
  constexpr std::size_t kLeast = 20;
  const std::size_t room = terminal.width - std::min(terminal.width, taken);
  std::string_view shown = name;
  if (shown.starts_with("void ")) shown.remove_prefix(5);
  return shorten_right(printable(std::string(shown)), std::max(room, kLeast), terminal);
}

std::string counter_value(double value, const std::string& unit) {
  if (unit == "bytes") return bytes(static_cast<std::uint64_t>(value));
  if (unit == "%") return percent(value / 100);
  if (unit == "mW") return formatted("{:.1f} W", value / 1000);
  return formatted("{:.0f} {}", value, printable(unit));
}

// The descriptions of the tables. The tree outlives them, and they outlive the tables.
class GpuTables {
  std::string name(RegionId region) const { return exchange::region_name(definitions_, region); }
  std::string caller_name(RegionId region) const {
    return region.defined() ? printable(name(region)) : "(threads without Python)";
  }

  // Values of several tables.
  auto region() const {
    return [this](const auto& row) {
      return row.region.defined() ? ordered_json(name(row.region)) : ordered_json();
    };
  }
  auto on_gpu() const {
    return [this](const GpuWorkRow& row) { return seconds(row.ticks, definitions_); };
  }
  static auto in_queue() {
    return [](const GpuWorkRow& row) {
      return row.queued == 0 ? ordered_json() : ordered_json(row.queue_ns);
    };
  }
  static std::string mean_in_queue(const GpuWorkRow& row, const Terminal& terminal) {
    if (row.queued == 0) return "";
    return duration(mean_launch(nanoseconds(row.queue_ns), row.queued), terminal);
  }
  RowTable<GpuWorkRow> works(const char* title, const char* times, std::size_t taken) const {
    const auto mean = [this](const GpuWorkRow& row) {
      return mean_launch(seconds(row.ticks, definitions_), row.times);
    };
    const auto label = [this, taken](const GpuWorkRow& row, const Terminal& terminal) {
      return kernel_name(name(row.region), taken, terminal);
    };
    return {title,
            {{"name", Unit::kText, region()},
             {"times", Unit::kCount, &GpuWorkRow::times, {2, times}},
             {"seconds", Unit::kSeconds, on_gpu(), {1, "time"}},
             {"", Unit::kSeconds, mean, {3, "mean"}}},
            label};
  }

 public:
  explicit GpuTables(const profile::CallTree& tree) : tree_(tree), definitions_(tree.definitions) {}

  RowTable<GpuWorkRow> kernels() const {
    RowTable<GpuWorkRow> table = works("kernel", "launches", 40);
    table.columns.push_back(
        {"queue_seconds", Unit::kNanoseconds, in_queue(), {4, "in queue", mean_in_queue}});
    return table;
  }

  RowTable<GpuWorkRow> copies() const {
    const auto bandwidth = [this](const GpuWorkRow& row, const Terminal&) {
      const double time = seconds(row.ticks, definitions_);
      const double rate = time == 0 ? 0 : static_cast<double>(row.bytes) / time;
      return rate < 1 ? "" : bytes(static_cast<std::uint64_t>(rate)) + "/s";
    };
    return {"copy",
            {{"name", Unit::kText, region()},
             {"times", Unit::kCount, &GpuWorkRow::times, {2, "copies"}},
             {"seconds", Unit::kSeconds, on_gpu(), {1, "time"}},
             {"queue_seconds", Unit::kNanoseconds, in_queue()},
             {"bytes", Unit::kBytes, &GpuWorkRow::bytes, {3, "bytes"}},
             {"", Unit::kText, {}, {4, "bandwidth", bandwidth}}}};
  }

  RowTable<GpuGraphRow> graphs() const {
    const auto mean = [](const GpuGraphRow& row) {
      return mean_launch(nanoseconds(row.gpu_ns), row.launches);
    };
    return {"graph",
            {{"name", Unit::kText, &GpuGraphRow::name},
             {"launches", Unit::kCount, &GpuGraphRow::launches, {2, "launches"}},
             {"gpu_seconds", Unit::kNanoseconds, &GpuGraphRow::gpu_ns, {1, "time"}},
             {"", Unit::kSeconds, mean, {3, "mean"}}}};
  }

  RowTable<GpuCallerRow> callers() const {
    const auto in_calls = [this](const auto& row) { return seconds(row.call_ticks, definitions_); };
    return {"started by, and most of it",
            {{"function", Unit::kText, region()},
             {"starts", Unit::kCount, &GpuCallerRow::calls, {2, "starts"}},
             {"gpu_seconds", Unit::kNanoseconds, &GpuCallerRow::gpu_ns, {1, "GPU time"}},
             {"call_seconds", Unit::kSeconds, in_calls, {3, "in calls"}},
             {"most", Unit::kName, &GpuCallerRow::most}},
            [this](const GpuCallerRow& row, const Terminal& terminal) {
              const std::string name = caller_name(row.region);
              if (row.most.empty()) return name;
              return name + ": " + kernel_name(row.most, 32 + columns(name), terminal);
            }};
  }

  RowTable<GpuWaitRow> waiting() const {
    return {"waits for the GPU in",
            {{"function", Unit::kText, region()},
             {"for", Unit::kName, &GpuWaitRow::what},
             {"times", Unit::kCount, &GpuWaitRow::times, {2, "waits"}},
             {"seconds", Unit::kNanoseconds, &GpuWaitRow::ns, {1, "time"}}},
            [this](const GpuWaitRow& row, const Terminal&) {
              const std::string name = caller_name(row.region);
              return row.what.empty() ? name : name + ": " + printable(row.what);
            }};
  }

  // `all`: nanoseconds of all rows.
  RowTable<GpuIdleRow> idle(std::uint64_t all) const {
    const auto share = [all](const GpuIdleRow& row) {
      return static_cast<double>(row.ns) / static_cast<double>(all);
    };
    return {"GPU idle during",
            {{"region", Unit::kText, region()},
             {"is_call", Unit::kText, &GpuIdleRow::in_call},
             {"seconds", Unit::kNanoseconds, &GpuIdleRow::ns, {1, "time"}},
             {"", Unit::kShare, share, {2, "share"}}}};
  }

  RowTable<GpuMemoryRow> memory() const {
    return {"memory of devices, by function",
            {{"function", Unit::kText, region()},
             {"calls", Unit::kCount, &GpuMemoryRow::calls, {4, "calls"}},
             {"allocated_bytes", Unit::kBytes, &GpuMemoryRow::allocated, {3, "allocated"}},
             {"peak_bytes", Unit::kBytes, &GpuMemoryRow::at_peak, {1, "at peak"}},
             {"end_bytes", Unit::kBytes, &GpuMemoryRow::at_end, {2, "at end"}}},
            [this](const auto& row, const Terminal&) { return caller_name(row.region); }};
  }

  RowTable<GpuWorkRow> ranges() const { return works("range of NVTX", "times", 30); }

  RowTable<GpuDeviceRow> devices() const {
    const auto share = [this](std::uint64_t GpuDeviceRow::*time) {
      return [this, time](const GpuDeviceRow& row, const Terminal&) {
        const double length = seconds(definitions_.clock.length, definitions_);
        return length == 0 ? std::string() : percent(nanoseconds(row.*time) / length);
      };
    };
    const auto peak = [](const auto& row, const Terminal&) { return bytes_if_any(row.peak); };
    const auto busy = share(&GpuDeviceRow::busy_ns), waits = share(&GpuDeviceRow::waits_ns);
    return {"device",
            {{"process", Unit::kText, &GpuDeviceRow::process},
             {"device", Unit::kCount, &GpuDeviceRow::device},
             {"name", Unit::kName, &GpuDeviceRow::name},
             {"memory_bytes", Unit::kBytes, &GpuDeviceRow::memory},
             {"peak_bytes", Unit::kBytes, &GpuDeviceRow::peak, {4, "peak", peak}},
             {"works", Unit::kCount, &GpuDeviceRow::works, {3, "works"}},
             {"busy_seconds", Unit::kNanoseconds, &GpuDeviceRow::busy_ns, {1, "busy", busy}},
             {"waits_seconds", Unit::kNanoseconds, &GpuDeviceRow::waits_ns, {2, "waits", waits}}},
            [this](const GpuDeviceRow& row, const Terminal&) {
              return device_name(row.device, row.process, row.name);
            }};
  }

  RowTable<GpuCounterRow> counters() const {
    const auto mean = [](const GpuCounterRow& row, const Terminal&) {
      return counter_value(row.mean, row.unit);
    };
    const auto most = [](const GpuCounterRow& row, const Terminal&) {
      return counter_value(static_cast<double>(row.most), row.unit);
    };
    return {"counters of devices",
            {{"process", Unit::kText, &GpuCounterRow::process},
             {"device", Unit::kCount, &GpuCounterRow::device},
             {"counter", Unit::kText, &GpuCounterRow::counter},
             {"unit", Unit::kText, &GpuCounterRow::unit},
             {"values", Unit::kCount, &GpuCounterRow::values},
             {"mean", Unit::kFactor, &GpuCounterRow::mean, {1, "mean", mean}},
             {"most", Unit::kCount, &GpuCounterRow::most, {2, "most", most}}},
            [this](const GpuCounterRow& row, const Terminal&) {
              return device_name(row.device, row.process) + ": " + printable(row.counter);
            }};
  }

  RowTable<GpuPathRow> paths() const {
    return {"",
            {{"path", Unit::kText, [this](const GpuPathRow& row) { return path(row.node); }},
             {"starts", Unit::kCount, &GpuPathRow::starts},
             {"gpu_seconds", Unit::kNanoseconds, &GpuPathRow::gpu_ns},
             {"waiting_seconds", Unit::kNanoseconds, &GpuPathRow::wait_ns},
             {"idle_seconds", Unit::kNanoseconds, &GpuPathRow::idle_ns},
             {"allocated_bytes", Unit::kBytes, &GpuPathRow::allocated},
             {"peak_bytes", Unit::kBytes, &GpuPathRow::at_peak}}};
  }

 private:
  std::string device_name(std::uint64_t device, const std::string& process,
                          const std::string& model = {}) const {
    std::string name = "CUDA[" + std::to_string(device) + "]";
    if (!model.empty()) name += " " + printable(model);
    if (definitions_.groups.size() > 1) name += ", " + printable(process);
    return name;
  }
  // The outermost region first.
  std::vector<std::string> path(profile::NodeId node) const {
    std::vector<std::string> names;
    for (; node.defined(); node = tree_.nodes[node.value()].parent) {
      const RegionId region = tree_.nodes[node.value()].region;
      if (region.defined()) names.push_back(name(region));
    }
    std::ranges::reverse(names);
    return names;
  }

  const profile::CallTree& tree_;
  const Definitions& definitions_;
};

std::uint64_t idle_ns(const GpuFacts& facts) {
  std::uint64_t all = 0;
  for (const GpuIdleRow& row : facts.idle) all += row.ns;
  return all;
}

// Regions with less than a hundredth of the time are left to --json.
std::size_t large_idle(const GpuFacts& facts) {
  const std::uint64_t least = idle_ns(facts) / 100;
  const auto is_large = [least](const GpuIdleRow& row) { return row.ns >= least; };
  return static_cast<std::size_t>(std::ranges::count_if(facts.idle, is_large));
}

void write_gpu_head(const GpuFacts& facts, const Definitions& definitions, const Terminal& terminal,
                    Output& output) {
  std::uint64_t ticks = 0;
  for (const auto* rows : {&facts.kernels, &facts.copies}) {
    for (const GpuWorkRow& row : *rows) ticks += row.ticks;
  }
  output.write(formatted("{} on the GPU", duration(seconds(ticks, definitions), terminal, " ")));
  if (const std::string shares = gpu_shares(definitions); !shares.empty()) {
    output.write(formatted("{}{} of the run", terminal.dot(), shares));
  }
  output.write(formatted("{}{} in calls that wait for it\n", terminal.dot(),
                         duration(facts.waiting_seconds, terminal, " ")));
}

}  // namespace

void write_gpu(const GpuFacts& facts, const profile::CallTree& tree, const Terminal& terminal,
               Output& output) {
  write_gpu_head(facts, tree.definitions, terminal, output);
  const GpuTables tables(tree);
  const auto write = [&](const auto& table, const auto& rows, std::size_t most = SIZE_MAX) {
    if (rows.empty()) return;
    output.write("\n");
    table.write(std::span(rows).first(std::min(most, rows.size())), terminal, output);
  };
  write(tables.kernels(), facts.kernels);
  write(tables.copies(), facts.copies);
  write(tables.graphs(), facts.graphs);
  write(tables.callers(), facts.callers);
  write(tables.waiting(), facts.waiting);
  write(tables.idle(idle_ns(facts)), facts.idle, large_idle(facts));
  write(tables.memory(), facts.memory);
  write(tables.ranges(), facts.ranges);
  write(tables.devices(), facts.devices);
  write(tables.counters(), facts.counters);
}

void write_gpu_json(const GpuFacts& facts, const profile::CallTree& tree, Output& output) {
  const GpuTables tables(tree);
  ordered_json all = {{"format", "timeloom-report-gpu"}, {"version", 1}};
  all["busy"] = facts.busy ? ordered_json(*facts.busy) : ordered_json();
  all["waits_for_python"] = facts.waits ? ordered_json(*facts.waits) : ordered_json();
  all["waiting_seconds"] = facts.waiting_seconds;
  all["kernels"] = tables.kernels().json(facts.kernels);
  all["copies"] = tables.copies().json(facts.copies);
  all["graphs"] = tables.graphs().json(facts.graphs);
  all["callers"] = tables.callers().json(facts.callers);
  all["waiting"] = tables.waiting().json(facts.waiting);
  all["idle"] = tables.idle(idle_ns(facts)).json(facts.idle);
  all["memory"] = tables.memory().json(facts.memory);
  all["ranges"] = tables.ranges().json(facts.ranges);
  all["devices"] = tables.devices().json(facts.devices);
  all["counters"] = tables.counters().json(facts.counters);
  all["paths"] = tables.paths().json(facts.paths);
  all["losses"] = facts_of(tree.definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
