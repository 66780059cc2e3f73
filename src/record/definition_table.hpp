// The definitions of this process: each different one once, in order of ids.
//
// Ids of regions, parameters and metrics stay the same as long as the process lives, so that they
// can be kept. A spool holds only those definitions that its measurement has used: each is written
// when it is used first. Not synchronised: src/record/measurement.cpp guards it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/code_object.hpp"
#include "core/definitions.hpp"
#include "core/regions/forked_region.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

class DefinitionTable {
 public:
  // A measurement begins, whose spool holds none of them. Texts are forgotten: nobody keeps
  // their ids, and a process may use any number of them.
  void begin() noexcept;

  // The id of an equal region, or a new one. Writes nothing.
  RegionId region(const Region& region);
  // The same for a region that is known by an address, whatever name stands in for it.
  RegionId region(const Region& region, CodeAddress address);
  // The id of an equal object, or a new one. Writes nothing.
  std::uint32_t object(const CodeObject& object);
  // Writes the object, unless this measurement has done so before. REQUIRES: object() has returned
  // `id`.
  void write_object(std::uint32_t id, spool::Writer& writer) noexcept;
  // The region that a forked child has in place of one that was open. REQUIRES: region() has
  // returned `id`.
  RegionId forked(RegionId id);
  // Writes the region with its address and, the first time in this measurement, its object.
  // REQUIRES: region() has returned `id`.
  void write_region(RegionId id, spool::Writer& writer) noexcept;

  // The id of an equal definition, or a new one. Written to `writer`, if there is one, unless
  // this measurement has done so before.
  ParameterId parameter(std::string_view name, ParameterType type, spool::Writer* writer);
  MetricId metric(std::string_view name, std::string_view unit, MetricValueType type,
                  spool::Writer* writer);
  // The same for several metrics, whose ids are consecutive; returns the first. REQUIRES: at least
  // one.
  MetricId metrics(const std::vector<Metric>& together, spool::Writer* writer);
  StringId string(std::string_view text, spool::Writer* writer);
  // nullptr: there is no metric of that id.
  const Metric* find_metric(MetricId id) const noexcept {
    return id.value() < metrics_.size() ? &metrics_[id.value()].definition : nullptr;
  }

 private:
  template <typename Definition>
  struct Kept {
    Definition definition;
    std::uint32_t written_in = 0;  // the measurement; 0: none
  };
  // Whether it has to be written now.
  template <typename Definition>
  bool take(Kept<Definition>& kept, const spool::Writer* writer) const noexcept;
  void write_metric(MetricId id, spool::Writer* writer) noexcept;
  std::uint32_t add(const Region& region);

  std::uint32_t measurement_ = 0;
  std::unordered_map<std::string, std::uint32_t> region_ids_;
  std::unordered_map<std::string, std::uint32_t> parameter_ids_;
  std::unordered_map<std::string, std::uint32_t> metric_ids_;
  std::unordered_map<std::string, std::uint32_t> metric_sets_;  // by set: the first id
  std::unordered_map<std::string, std::uint32_t> string_ids_;   // of this measurement
  std::vector<Region> regions_;
  std::unordered_map<std::string, std::uint32_t> code_ids_;        // regions with addresses
  std::unordered_map<std::uint32_t, CodeAddress> code_addresses_;  // by region
  std::unordered_map<std::string, std::uint32_t> object_ids_;
  std::vector<Kept<CodeObject>> objects_;
  std::vector<Kept<Parameter>> parameters_;
  std::vector<Kept<Metric>> metrics_;
};

}  // namespace timeloom::record
