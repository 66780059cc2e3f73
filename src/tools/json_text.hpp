// JSON that the commands print. Plain functions; nothing throws.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/run_facts.hpp"
#include "tools/text.hpp"

namespace timeloom::tools {

// Bytes of names that are not UTF-8 are replaced. Indentation -1: one line.
inline std::string json_text(const nlohmann::ordered_json& value, int indentation = -1) {
  return value.dump(indentation, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// The facts that `report` and `info` have in common.
inline void add_facts(nlohmann::ordered_json& object, const RunFacts& facts,
                      const std::string& run) {
  const auto or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  object["run"] = run;
  object["program"] = or_null(facts.program);
  object["host"] = or_null(facts.host);
  object["start"] = facts.start ? or_null(iso_time(*facts.start)) : nlohmann::ordered_json();
  object["wall_s"] = facts.wall_seconds;
  object["processes"] = facts.processes;
  object["threads"] = facts.threads;
  object["tasks"] = facts.tasks;
  object["task_lanes"] = facts.task_lanes;
  object["events"] = facts.events;
  object["given_up"] = facts.given_up;
  if (facts.rested) {
    object["observed_share"] = facts.observed_share ? nlohmann::ordered_json(*facts.observed_share)
                                                    : nlohmann::ordered_json();
  }
  object["losses"] = facts.losses;
}

}  // namespace timeloom::tools
