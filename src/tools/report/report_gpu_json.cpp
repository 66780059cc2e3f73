// The JSON of `timeloom report --gpu`.
#include <algorithm>

#include "exchange/names.hpp"
#include "tools/report/report_gpu.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/run_facts.hpp"

namespace timeloom::tools {
namespace {

using nlohmann::ordered_json;

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

ordered_json region_json(RegionId region, const Definitions& definitions) {
  if (!region.defined()) return {};
  return exchange::region_name(definitions, region);
}

ordered_json text_json(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json gpu_json(const GpuWorkRow& row, const Definitions& definitions) {
  return {
      {"name", exchange::region_name(definitions, row.region)},
      {"times", row.times},
      {"seconds", seconds(row.ticks, definitions)},
      {"queue_seconds", row.queued == 0 ? ordered_json() : ordered_json(seconds_of(row.queue_ns))}};
}

ordered_json works_json(const std::vector<GpuWorkRow>& rows, const Definitions& definitions,
                        bool with_bytes) {
  ordered_json all = ordered_json::array();
  for (const GpuWorkRow& row : rows) {
    all.push_back(gpu_json(row, definitions));
    if (with_bytes) all.back()["bytes"] = row.bytes;
  }
  return all;
}

ordered_json graphs_json(const GpuFacts& facts) {
  ordered_json all = ordered_json::array();
  for (const GpuGraphRow& row : facts.graphs) {
    all.push_back(
        {{"name", row.name}, {"launches", row.launches}, {"gpu_seconds", seconds_of(row.gpu_ns)}});
  }
  return all;
}

ordered_json callers_json(const GpuFacts& facts, const Definitions& definitions) {
  ordered_json all = ordered_json::array();
  for (const GpuCallerRow& row : facts.callers) {
    all.push_back({{"function", region_json(row.region, definitions)},
                   {"starts", row.calls},
                   {"gpu_seconds", seconds_of(row.gpu_ns)},
                   {"call_seconds", seconds(row.call_ticks, definitions)},
                   {"most", text_json(row.most)}});
  }
  return all;
}

ordered_json waiting_json(const GpuFacts& facts, const Definitions& definitions) {
  ordered_json all = ordered_json::array();
  for (const GpuWaitRow& row : facts.waiting) {
    all.push_back({{"function", region_json(row.region, definitions)},
                   {"for", text_json(row.what)},
                   {"times", row.times},
                   {"seconds", seconds_of(row.ns)}});
  }
  return all;
}

ordered_json idle_json(const GpuFacts& facts, const Definitions& definitions) {
  ordered_json all = ordered_json::array();
  for (const GpuIdleRow& row : facts.idle) {
    all.push_back({{"region", region_json(row.region, definitions)},
                   {"is_call", row.in_call},
                   {"seconds", seconds_of(row.ns)}});
  }
  return all;
}

ordered_json memory_json(const GpuFacts& facts, const Definitions& definitions) {
  ordered_json all = ordered_json::array();
  for (const GpuMemoryRow& row : facts.memory) {
    all.push_back({{"function", region_json(row.region, definitions)},
                   {"calls", row.calls},
                   {"allocated_bytes", row.allocated},
                   {"peak_bytes", row.at_peak},
                   {"end_bytes", row.at_end}});
  }
  return all;
}

ordered_json ranges_json(const GpuFacts& facts, const Definitions& definitions) {
  ordered_json all = ordered_json::array();
  for (const GpuWorkRow& row : facts.ranges) {
    all.push_back({{"name", exchange::region_name(definitions, row.region)},
                   {"times", row.times},
                   {"seconds", seconds(row.ticks, definitions)}});
  }
  return all;
}

ordered_json devices_json(const GpuFacts& facts) {
  ordered_json all = ordered_json::array();
  for (const GpuDeviceRow& row : facts.devices) {
    all.push_back({{"process", row.process},
                   {"device", row.device},
                   {"name", text_json(row.name)},
                   {"memory_bytes", row.memory},
                   {"peak_bytes", row.peak},
                   {"works", row.works},
                   {"busy_seconds", seconds_of(row.busy_ns)},
                   {"waits_seconds", seconds_of(row.waits_ns)}});
  }
  return all;
}

// The outermost region first.
ordered_json path_json(const profile::CallTree& tree, profile::NodeId node) {
  std::vector<std::string> names;
  for (; node.defined(); node = tree.nodes[node.value()].parent) {
    const RegionId region = tree.nodes[node.value()].region;
    if (region.defined()) names.push_back(exchange::region_name(tree.definitions, region));
  }
  std::ranges::reverse(names);
  return names;
}

ordered_json paths_json(const GpuFacts& facts, const profile::CallTree& tree) {
  ordered_json all = ordered_json::array();
  for (const GpuPathRow& row : facts.paths) {
    all.push_back({{"path", path_json(tree, row.node)},
                   {"starts", row.starts},
                   {"gpu_seconds", seconds_of(row.gpu_ns)},
                   {"waiting_seconds", seconds_of(row.wait_ns)},
                   {"idle_seconds", seconds_of(row.idle_ns)},
                   {"allocated_bytes", row.allocated},
                   {"peak_bytes", row.at_peak}});
  }
  return all;
}

}  // namespace

void write_gpu_json(const GpuFacts& facts, const profile::CallTree& tree, Output& output) {
  const Definitions& definitions = tree.definitions;
  ordered_json all = {{"format", "timeloom-report-gpu"}, {"version", 1}};
  all["busy"] = facts.busy ? ordered_json(*facts.busy) : ordered_json();
  all["waits_for_python"] = facts.waits ? ordered_json(*facts.waits) : ordered_json();
  all["waiting_seconds"] = facts.waiting_seconds;
  all["kernels"] = works_json(facts.kernels, definitions, false);
  all["copies"] = works_json(facts.copies, definitions, true);
  all["graphs"] = graphs_json(facts);
  all["callers"] = callers_json(facts, definitions);
  all["waiting"] = waiting_json(facts, definitions);
  all["idle"] = idle_json(facts, definitions);
  all["memory"] = memory_json(facts, definitions);
  all["ranges"] = ranges_json(facts, definitions);
  all["devices"] = devices_json(facts);
  all["paths"] = paths_json(facts, tree);
  all["losses"] = facts_of(definitions).losses;
  output.write(json_text(all, 2) + "\n");
}

}  // namespace timeloom::tools
