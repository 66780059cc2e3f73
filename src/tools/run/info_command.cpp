// `timeloom info RUN`: what a run holds.

#include <memory>

#include "core/error.hpp"
#include "core/measuring_cost.hpp"
#include "core/metric_unit.hpp"
#include "tools/command_options.hpp"
#include "tools/commands.hpp"
#include "tools/run/info_text.hpp"
#include "tools/run/json_text.hpp"
#include "tools/run/open_run.hpp"
#include "tools/text/formatted.hpp"
#include "tools/text/human_text.hpp"
#include "tools/text/output.hpp"
#include "weave/trace/packing_estimate.hpp"

namespace timeloom::tools {

namespace {

using nlohmann::ordered_json;

struct InfoOptions {
  std::optional<std::string> run;
  bool json = false;
  bool all = false;
  ColourMode colour = ColourMode::kAuto;
};

ordered_json files_json(const std::vector<RunFile>& files) {
  ordered_json list = ordered_json::array();
  for (const RunFile& file : files) {
    list.push_back({{"name", file.name},
                    {"bytes", file.bytes},
                    {"files", file.files},
                    {"what", file.what},
                    {"opened_by", file.opened_by}});
  }
  return list;
}

ordered_json processes_json(const Definitions& definitions) {
  ordered_json list = ordered_json::array();
  for (const LocationGroup& group : definitions.groups) {
    list.push_back({{"name", group.name},
                    {"host", group.hostname},
                    {"process_id", group.process_id},
                    {"executable", group.executable},
                    {"arguments", group.arguments},
                    {"creator", group.creator.defined() ? ordered_json(group.creator.value())
                                                        : ordered_json()},
                    {"ending", group.ending}});
  }
  return list;
}

ordered_json threads_json(const Definitions& definitions) {
  ordered_json list = ordered_json::array();
  for (const Location& location : definitions.locations) {
    ordered_json one = {{"id", location.id.value()}, {"name", location.name}};
    one["group"] = location.group.defined() ? ordered_json(location.group.value()) : ordered_json();
    one["thread_id"] = location.thread_id;
    one["events"] = location.event_count;
    list.push_back(one);
  }
  return list;
}

ordered_json metrics_json(const Definitions& definitions) {
  ordered_json list = ordered_json::array();
  for (const Metric& metric : definitions.metrics) {
    list.push_back(
        {{"name", metric.name}, {"unit", value_unit(metric)}, {"description", metric.description}});
  }
  return list;
}

ordered_json markers_json(const Definitions& definitions) {
  ordered_json list = ordered_json::array();
  for (const Marker& marker : definitions.markers) {
    const std::uint64_t since =
        ticks(marker.time) - std::min(ticks(marker.time), definitions.clock.begin);
    list.push_back({{"time_s", seconds(since, definitions)},
                    {"thread", marker.location.value()},
                    {"text", marker.text}});
  }
  return list;
}

// Null: the run does not contain it.
ordered_json overhead_json(const Definitions& definitions) {
  const std::optional<MeasuringCost> cost = measuring_cost_of(definitions.properties);
  if (!cost) return {};
  const Shares shares = shares_of(*cost);
  return {{"share_of_cpu", shares.cpu},
          {"share_of_wall", shares.wall},
          {"least_share_of_cpu", shares.cpu_error_range.least},
          {"most_share_of_cpu", shares.cpu_error_range.most},
          {"cpu_seconds", cost->total()},
          {"events_seconds", cost->events},
          {"functions_seconds", cost->functions},
          {"start_seconds", cost->start},
          {"recorder_seconds", cost->recorder},
          {"weave_seconds", cost->weave},
          {"program_cpu_seconds", cost->cpu},
          {"timed_callbacks", cost->timed},
          {"unknown_processes", cost->unknown_processes()}};
}

using Packing = std::optional<weave::PackingEstimate>;

// Null: the trace is packed, or cannot be.
ordered_json packing_json(const Packing& packing) {
  if (!packing) return {};
  return {{"trace_bytes", packing->trace},
          {"packed_bytes", packing->packed},
          {"tried_events", packing->events}};
}

std::string packing_text(const Packing& packing) {
  if (!packing || packing->packed >= packing->trace) return {};
  const double saved =
      1 - static_cast<double>(packing->packed) / static_cast<double>(packing->trace);
  return formatted("timeloom pack{}: traces of about {}, {:.0f} % less",
                   packing->is_sure ? "" : ", if it can", bytes(packing->packed), 100 * saved);
}

std::string info_json(const Definitions& definitions, const std::vector<RunFile>& files,
                      const Packing& packing, const std::string& run) {
  ordered_json info;
  info["format"] = "timeloom-info";
  info["version"] = 1;
  add_facts(info, facts_of(definitions), run);
  info["overhead"] = overhead_json(definitions);
  info["creator"] = definitions.creator;
  info["machine"] = definitions.machine_name;
  info["ticks_per_second"] = definitions.clock.ticks_per_second;
  info["files"] = files_json(files);
  info["packing"] = packing_json(packing);
  info["groups"] = processes_json(definitions);
  info["locations"] = threads_json(definitions);
  info["regions"] = definitions.regions.size();
  info["metrics"] = metrics_json(definitions);
  info["parameters"] = parameter_names(definitions);
  info["markers"] = markers_json(definitions);
  info["properties"] = definitions.properties;
  return json_text(info, 2) + "\n";
}

int run_info(const InfoOptions& options) {
  const std::filesystem::path run = open_run(options.run);
  const Definitions definitions = definitions_of(run);
  const bool traced = weave::has_trace(run);
  const std::filesystem::path file = traced ? weave::trace_of(run) : weave::profile_of(run);
  const std::vector<RunFile> files =
      files_of(file.has_parent_path() ? file.parent_path() : std::filesystem::path("."));
  const Packing packing = weave::packing_estimate(run);
  Output output;
  if (options.json)
    output.write(info_json(definitions, files, packing, run.string()));
  else
    write_info(definitions, files, packing_text(packing), run.string(), options.all,
               Terminal::detect(options.colour), output);
  output.flush();
  return kDone;
}

}  // namespace

Command register_info(CLI::App& program) {
  const auto options = std::make_shared<InfoOptions>();
  CommandOptions known(program, "info", "Describe a run: files, threads, metrics, losses");
  known.run(options->run);
  known.flag("--all", options->all, "Also the properties of the run and the ids of locations");
  known.flag("--json", options->json, "Print JSON");
  known.colour(options->colour);
  return {known.app(), [options] { return run_info(*options); }};
}

}  // namespace timeloom::tools
