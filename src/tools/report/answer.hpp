// The answer of `timeloom report`: the functions in which the time went, the waiting, and the
// call tree as a reader wants it.
//
// Plain values made from a CallTree, which must outlive them. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/call_tree.hpp"
#include "tools/report/code_owner.hpp"
#include "tools/report/estimates/estimates.hpp"
#include "tools/report/short_tree.hpp"
#include "tools/report/work_times.hpp"

namespace timeloom::tools {

// A function, in seconds.
struct FunctionRow {
  RegionId region;      // of importing: one of its functions; undefined: beyond a limit
  double working = 0;   // without the functions called inside
  double measured = 0;  // the same before what measuring cost was taken away
  double waiting = 0;
  CauseTimes causes;  // of the waiting
  double total = 0;   // working, with the functions called inside
  std::int64_t visits = 0;
  std::int64_t calls = 0;  // that it makes, of recorded functions
  RegionId user;  // of waiting: the project's function that called for most of it; or undefined
};

class Answer {
 public:
  // `cost`: taken from the working times.
  Answer(const profile::CallTree& tree, const profile::LocationFilter& filter,
         const std::optional<CallCost>& cost = {});

  // The functions by own working time, and by own waiting time; rows without any are left out.
  const std::vector<FunctionRow>& functions() const { return functions_; }
  const std::vector<FunctionRow>& waiting() const { return waiting_; }
  std::vector<ShortRow> tree(std::size_t most_rows) const {
    return short_tree(*tree_, times_, owner_, most_rows);
  }

  const WorkTimes& times() const { return times_; }
  const Estimates& estimates() const { return estimates_; }
  const std::optional<CallCost>& cost() const { return cost_; }
  const CodeOwner& owner() const { return owner_; }
  const Definitions& definitions() const { return tree_->definitions; }
  // A name for people: never empty.
  std::string region_name(RegionId region) const;
  // The part of the working time in functions that work long between two recorded calls: a loop,
  // or a function written in C. None: the run has recorded these, or not all functions of Python.
  std::optional<double> long_stretches() const;

 private:
  void adopt_program();
  // For each call path the region of its row; the number of regions stands for none.
  std::vector<std::size_t> rows_of_nodes() const;
  void add_functions();
  void add_waiting();

  const profile::CallTree* tree_;
  std::optional<CallCost> cost_;
  WorkTimes times_;
  Estimates estimates_;
  CodeOwner owner_;
  std::vector<FunctionRow> functions_;
  std::vector<FunctionRow> waiting_;
};

}  // namespace timeloom::tools
