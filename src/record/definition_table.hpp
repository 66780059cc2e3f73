// The definitions of this process: each different one once, in order of ids.
//
// Not synchronised: src/record/measurement.cpp guards it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/definitions.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

class DefinitionTable {
 public:
  // The id of an equal definition, or a new one, which is then also written to
  // `writer` if there is one.
  RegionId region(const Region& region, spool::Writer* writer);
  ParameterId parameter(std::string_view name, ParameterType type, spool::Writer* writer);
  MetricId metric(std::string_view name, std::string_view unit, MetricValueType type,
                  spool::Writer* writer);
  // Equal ones or new ones, whose ids follow each other; the first. Not of none.
  MetricId metrics(const std::vector<Metric>& together, spool::Writer* writer);
  StringId string(std::string_view text, spool::Writer* writer);
  // nullptr: there is no metric of that id.
  const Metric* find_metric(MetricId id) const noexcept {
    return id.value() < metrics_.size() ? &metrics_[id.value()] : nullptr;
  }

  // Writes all of them, for a spool that begins.
  void write_all(spool::Writer& writer) const;

 private:
  std::unordered_map<std::string, std::uint32_t> region_ids_;
  std::unordered_map<std::string, std::uint32_t> parameter_ids_;
  std::unordered_map<std::string, std::uint32_t> metric_ids_;
  std::unordered_map<std::string, std::uint32_t> metric_sets_;  // by set: the first id
  std::unordered_map<std::string, std::uint32_t> string_ids_;
  std::vector<Region> regions_;
  std::vector<Parameter> parameters_;
  std::vector<Metric> metrics_;
  std::vector<std::string> strings_;
};

}  // namespace timeloom::record
