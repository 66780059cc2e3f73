#include "tools/report/short_tree.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/child_table.hpp"

namespace timeloom::tools {

namespace {

constexpr std::uint32_t kNoNode = UINT32_MAX;
constexpr int kPasses = 3;
constexpr double kPassedOn = 0.05;    // of its time: a call that keeps less only hands on
constexpr double kLeastShare = 0.01;  // of the working time, for a row

// A call path without recursion.
struct Path {
  std::uint32_t parent = kNoNode;
  std::uint32_t key = 0;  // of its region, see key_of()
  RegionId region;
  double exclusive = 0;
  double total = 0;
  double largest_child = 0;
  RegionId largest;  // its region
  std::int64_t visits = 0;
  double worth = 0;  // of a row of its own
  bool chosen = false;
  std::uint32_t row = kNoNode;  // where its time is shown
};

class Shortener {
 public:
  Shortener(const profile::CallTree& tree, const WorkTimes& times, const CodeOwner& owner)
      : tree_(tree), times_(times), owner_(owner) {
    join_recursions();
    sum();
    value();
  }

  std::vector<ShortRow> rows(std::size_t most) {
    std::vector<std::uint32_t> order;
    const double least = kLeastShare * times_.all_working;
    for (std::uint32_t i = 0; i < paths_.size(); ++i) {
      if (paths_[i].worth > 0 && paths_[i].total >= least) order.push_back(i);
    }
    std::ranges::stable_sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return paths_[a].worth > paths_[b].worth; });
    // Several call paths can become one row, which leaves room for others.
    std::size_t next = 0;
    while (rows_.size() < most && next < order.size()) {
      for (std::size_t room = most - rows_.size(); room > 0 && next < order.size(); --room) {
        paths_[order[next++]].chosen = true;
      }
      make_rows();
    }
    // Or more, where one of them stands below several.
    while (rows_in_use() > most && next > 1) {
      paths_[order[--next]].chosen = false;
      make_rows();
    }
    return in_order();
  }

 private:
  // All functions of the import system have one key.
  std::uint32_t key_of(RegionId region) const {
    const auto regions = static_cast<std::uint32_t>(tree_.definitions.regions.size());
    if (!region.defined()) return regions + 1;
    return owner_.is_import(region) ? regions : region.value();
  }

  void join_recursions() {
    std::vector<std::uint32_t> open(tree_.definitions.regions.size() + 2, kNoNode);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> way;  // key and what it was before
    std::vector<std::uint32_t> path_of(tree_.nodes.size());
    ChildTable children;
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      const profile::Node& node = tree_.nodes[i];
      for (; way.size() > node.depth; way.pop_back()) open[way.back().first] = way.back().second;
      const std::uint32_t key = key_of(node.region);
      const std::uint32_t parent = node.parent.defined() ? path_of[node.parent.value()] : kNoNode;
      std::uint32_t path = open[key];
      if (path == kNoNode) path = children.find(parent, key);
      if (path == kNoNode) {
        path = static_cast<std::uint32_t>(paths_.size());
        children.insert(parent, key, path);
        paths_.emplace_back();
        paths_[path].parent = parent;
        paths_[path].key = key;
        paths_[path].region = node.region;
      }
      way.emplace_back(key, open[key]);
      open[key] = path;
      path_of[i] = path;
      paths_[path].exclusive += times_.working[i];
      paths_[path].visits += times_.visits[i];
    }
  }

  // Callers come before what they call.
  void sum() {
    for (std::size_t i = paths_.size(); i-- > 0;) {
      Path& path = paths_[i];
      path.total += path.exclusive;
      if (path.parent == kNoNode) continue;
      Path& parent = paths_[path.parent];
      parent.total += path.total;
      if (path.total <= parent.largest_child) continue;
      parent.largest_child = path.total;
      parent.largest = path.region;
    }
  }

  // A call that only hands on to another is worth little, unless it is the last of the project
  // before a library.
  void value() {
    for (Path& path : paths_) {
      if (!path.region.defined()) continue;
      const double divides = path.total - path.largest_child;
      const bool project = owner_.is_project(path.region);
      const bool entry = path.parent != kNoNode && owner_.is_project(paths_[path.parent].region);
      const bool last = project && !owner_.is_project(path.largest);
      const bool hands_on = divides < kPassedOn * path.total && !last;
      path.worth = divides + (project || entry ? hands_on ? 0.02 : 0.3 : 0) * path.total;
    }
  }

  void make_rows() {
    rows_.clear();
    row_parents_.clear();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
    // A row can take in calls that come before the one for which it was made, and then what
    // they call.
    for (int pass = 0; pass < kPasses; ++pass) {
      for (Path& path : paths_) {
        const std::uint32_t above = path.parent == kNoNode ? kNoNode : paths_[path.parent].row;
        const auto found = known.find({above, path.key});
        path.row = above;
        if (found != known.end()) {
          path.row = found->second;
        } else if (path.chosen) {
          path.row = static_cast<std::uint32_t>(rows_.size());
          known[{above, path.key}] = path.row;
          rows_.emplace_back().region = path.region;
          row_parents_.push_back(above);
        }
      }
    }
  }

  std::size_t rows_in_use() const {
    std::set<std::uint32_t> rows;
    for (const Path& path : paths_) {
      if (path.row != kNoNode && path.total > 0) rows.insert(path.row);
    }
    return rows.size();
  }

  void add_times() {
    std::vector<std::map<std::string, std::set<std::uint32_t>>> hidden(rows_.size());
    for (const Path& path : paths_) {
      if (path.row == kNoNode) continue;
      ShortRow& row = rows_[path.row];
      row.exclusive += path.exclusive;
      if (key_of(row.region) == path.key) {
        row.visits += path.visits;
      } else if (path.region.defined()) {
        hidden[path.row][owner_.package_of(path.region)].insert(path.key);
      }
    }
    for (std::size_t i = rows_.size(); i-- > 0;) {
      rows_[i].total += rows_[i].exclusive;
      if (row_parents_[i] != kNoNode) rows_[row_parents_[i]].total += rows_[i].total;
      for (const auto& [package, functions] : hidden[i]) {
        rows_[i].hidden += functions.size();
        if (functions.size() <= rows_[i].hidden_of_package) continue;
        rows_[i].hidden_package = package;
        rows_[i].hidden_of_package = functions.size();
      }
    }
  }

  std::vector<ShortRow> in_order() {
    add_times();
    std::map<std::uint32_t, std::vector<std::uint32_t>> children;
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].total > 0) children[row_parents_[i]].push_back(i);
    }
    std::vector<ShortRow> result;
    std::vector<std::uint32_t> waiting;
    const auto add_children = [&](std::uint32_t parent, std::uint32_t depth) {
      std::vector<std::uint32_t>& all = children[parent];
      std::ranges::stable_sort(
          all, [&](std::uint32_t a, std::uint32_t b) { return rows_[a].total > rows_[b].total; });
      for (const std::uint32_t child : all) {
        rows_[child].depth = depth;
        rows_[child].only_child = all.size() == 1;
        rows_[child].last_child = child == all.back();
      }
      waiting.insert(waiting.end(), all.rbegin(), all.rend());
    };
    for (add_children(kNoNode, 0); !waiting.empty();) {
      const std::uint32_t row = waiting.back();
      waiting.pop_back();
      result.push_back(rows_[row]);
      add_children(row, rows_[row].depth + 1);
    }
    return result;
  }

  const profile::CallTree& tree_;
  const WorkTimes& times_;
  const CodeOwner& owner_;
  std::vector<Path> paths_;
  std::vector<ShortRow> rows_;
  std::vector<std::uint32_t> row_parents_;
};

}  // namespace

std::vector<ShortRow> short_tree(const profile::CallTree& tree, const WorkTimes& times,
                                 const CodeOwner& owner, std::size_t most_rows) {
  return Shortener(tree, times, owner).rows(most_rows);
}

}  // namespace timeloom::tools
