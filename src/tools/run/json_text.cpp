#include "tools/run/json_text.hpp"

#include "tools/text/human_text.hpp"

namespace timeloom::tools {

using nlohmann::ordered_json;

void add_facts(ordered_json& object, const RunFacts& facts, const std::string& run) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? ordered_json() : ordered_json(text);
  };
  object["run"] = run;
  object["program"] = or_null(facts.program);
  object["host"] = or_null(facts.host);
  object["start"] = facts.start ? or_null(iso_time(*facts.start)) : ordered_json();
  object["wall_s"] = facts.wall_seconds;
  object["processes"] = facts.processes;
  object["threads"] = facts.threads;
  object["tasks"] = facts.tasks;
  object["task_lanes"] = facts.task_lanes;
  object["events"] = facts.events;
  object["given_up"] = facts.throttled;
  object["cut_short"] = facts.truncated;
  if (facts.was_paused) {
    object["observed_share"] =
        facts.observed_share ? ordered_json(*facts.observed_share) : ordered_json();
  }
  if (facts.cpu.known()) {
    object["cpu_s"] = static_cast<double>(facts.cpu.process) * 1e-9;
    object["other_cpu_s"] = static_cast<double>(facts.cpu.other) * 1e-9;
    auto& native = object["native_threads"] = ordered_json::array();
    for (const auto& [name, sum] : facts.native_threads) {
      native.push_back({{"name", name},
                        {"threads", sum.threads},
                        {"cpu_s", static_cast<double>(sum.cpu_ns) * 1e-9}});
    }
    object["unseen_cpu_s"] = static_cast<double>(unseen_cpu(facts)) * 1e-9;
  }
  if (facts.resident.known()) {
    object["peak_rss_bytes"] = facts.resident.peak;
    object["memory_limit_bytes"] =
        facts.resident.limit > 0 ? ordered_json(facts.resident.limit) : ordered_json();
  }
  object["losses"] = facts.losses;
}

}  // namespace timeloom::tools
