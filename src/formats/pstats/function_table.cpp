#include "formats/pstats/function_table.hpp"

#include <vector>

#include "exchange/format_text.hpp"
#include "exchange/names.hpp"

namespace timeloom::pstats {

namespace {

using profile::Node;
using profile::Totals;

void add(Count& count, const Totals& totals, bool recursive) {
  count.calls += totals.visits;
  count.exclusive += totals.exclusive;
  if (recursive) return;
  count.primitive += totals.visits;
  count.all += totals.inclusive;
}

class Table {
 public:
  explicit Table(const profile::CallTree& tree)
      : tree_(tree), functions_(tree.definitions.regions.size() + 1) {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const bool beyond = i + 1 == functions_.size();
      functions_[i] = number_of(function_of(
          tree.definitions, beyond ? RegionId{} : RegionId{static_cast<std::uint32_t>(i)}));
    }
  }

  std::map<Function, Entry> count() {
    const std::vector<Totals> totals = sum_locations(tree_);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const Node& node = tree_.nodes[i];
      while (path_.size() > node.depth) leave();
      enter(node, totals[i]);
    }
    std::map<Function, Entry> table;
    for (Entry& entry : entries_) {
      // cProfile has no functions that were defined and never called.
      const auto place = static_cast<std::size_t>(&entry - entries_.data());
      if (entry.calls != 0 || entry.exclusive != 0) table.emplace(names_[place], std::move(entry));
    }
    return table;
  }

 private:
  using Call = std::pair<std::uint32_t, std::uint32_t>;  // from one function to another

  std::uint32_t number_of(const Function& function) {
    const auto [found, fresh] =
        numbers_.try_emplace(function, static_cast<std::uint32_t>(names_.size()));
    if (fresh) {
      names_.push_back(function);
      entries_.emplace_back();
      open_.push_back(0);
    }
    return found->second;
  }

  void enter(const Node& node, const Totals& totals) {
    const std::uint32_t function =
        functions_[node.region.defined() ? node.region.value() : functions_.size() - 1];
    add(entries_[function], totals, open_[function]++ > 0);
    if (!path_.empty()) {
      const Call call(path_.back(), function);
      add(entries_[function].callers[names_[path_.back()]], totals, open_calls_[call]++ > 0);
    }
    path_.push_back(function);
  }

  void leave() {
    const std::uint32_t function = path_.back();
    path_.pop_back();
    --open_[function];
    if (!path_.empty()) --open_calls_[Call(path_.back(), function)];
  }

  const profile::CallTree& tree_;
  std::vector<std::uint32_t> functions_;  // by region; the last: no function
  std::map<Function, std::uint32_t> numbers_;
  std::vector<Function> names_;  // by number, as the next two
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> open_;
  std::map<Call, std::uint32_t> open_calls_;
  std::vector<std::uint32_t> path_;  // functions from the root on
};

}  // namespace

Function function_of(const Definitions& definitions, RegionId id) {
  const std::string name = exchange::one_line(exchange::region_name(definitions, id));
  if (!id.defined()) return {"~", 0, name};
  const Region& region = definitions.regions[id.value()];
  if (region.file.empty()) return {"~", 0, "<" + name + ">"};
  const bool code = region.paradigm == Paradigm::kCompiler && !region.group.empty();
  return {exchange::one_line(region.file), region.first_line,
          code ? name.substr(name.rfind('.') + 1) : name};
}

std::map<Function, Entry> function_table(const profile::CallTree& tree) {
  return Table(tree).count();
}

}  // namespace timeloom::pstats
