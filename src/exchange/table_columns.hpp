// Table columns for the parts of call paths that vary from run to run: parameters and metrics.
//
// Used by one thread; the tree outlives them. Throws only what a RowWriter throws.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "exchange/event_table.hpp"
#include "profile/call_tree.hpp"

namespace timeloom::exchange {

// Column names, each of them unique.
class Columns {
 public:
  void add(std::string name, ColumnType type);
  // A column of texts.
  void add(std::string name, std::shared_ptr<const Words> words);
  const std::vector<Column>& all() const noexcept { return columns_; }

 private:
  std::string free(std::string name);

  std::vector<Column> columns_;
  std::set<std::string> taken_;
};

// A column for each parameter, with the values that distinguish call paths.
class ParameterColumns {
 public:
  explicit ParameterColumns(const profile::CallTree& tree);
  void add_to(Columns& columns) const;
  void write(RowWriter& row, profile::ParameterSetId id) const;

 private:
  const profile::CallTree& tree_;
  std::map<std::string, std::size_t> places_;
  struct OfParameter {
    std::string name;
    bool numeric = true;
    std::shared_ptr<Words> words;  // if it is not
  };

  std::vector<OfParameter> all_;
};

// A column for each sampled metric (its exclusive value), and four for each counter of the program.
class MetricColumns {
 public:
  explicit MetricColumns(const profile::CallTree& tree);
  void add_to(Columns& columns) const;
  // Sets the location of the following rows.
  void begin_location(const profile::LocationProfile& location);
  // Fast for rows in the order of their nodes.
  void write(RowWriter& row, profile::NodeId node);

 private:
  bool has_only_sum(std::size_t metric) const;

  const std::vector<Metric>& metrics_;
  const bool sampled_calls_;
  std::vector<bool> used_;  // by metric: true if some call path has a value
  const profile::LocationProfile* location_ = nullptr;
  std::vector<std::size_t> counter_;  // by metric: the next cell
  std::vector<std::size_t> sample_;
};

}  // namespace timeloom::exchange
