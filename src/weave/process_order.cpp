#include "weave/process_order.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <tuple>

namespace timeloom::weave {
namespace {

constexpr std::string_view kDigits = "0123456789";

// The text with each number preceded by its count of digits, so that 9 is sorted before 10.
std::string sort_key(std::string_view name) {
  std::string key;
  while (!name.empty()) {
    const std::size_t digits = std::min(name.find_first_not_of(kDigits), name.size());
    if (digits != 0) {
      const std::size_t zeros = std::min(name.find_first_not_of('0'), digits);
      key += '0';
      key += static_cast<char>(std::min<std::size_t>(digits - zeros, 127));
      key += name.substr(zeros, digits - zeros);
    }
    name.remove_prefix(digits);
    const std::size_t text = std::min(name.find_first_of(kDigits), name.size());
    key += name.substr(0, text);
    name.remove_prefix(text);
  }
  return key;
}

// Process ids are given out upwards and wrap around, so the distance from the parent's id follows
// the order of birth.
std::uint32_t birth_of(const ProcessBirth& child, const ProcessBirth& parent) {
  return static_cast<std::uint32_t>(child.process_id) -
         static_cast<std::uint32_t>(parent.process_id);
}

class Ranks {
 public:
  explicit Ranks(const std::vector<ProcessBirth>& processes)
      : processes_(processes), children_(processes.size()), ranked_(processes.size()) {
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < processes.size(); ++i) places.emplace(processes[i].spool, i);
    for (std::size_t i = 0; i < processes.size(); ++i) {
      const auto parent = places.find(processes[i].parent);
      if (parent == places.end() || parent->second == i) {
        roots_.push_back(i);
      } else {
        children_[parent->second].push_back(i);
      }
    }
  }

  std::vector<std::size_t> take() {
    add_roots(std::move(roots_));
    // Damage can make processes each other's parents.
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < ranked_.size(); ++i) {
      if (!ranked_[i]) left.push_back(i);
    }
    add_roots(std::move(left));
    return std::move(order_);
  }

 private:
  void add_roots(std::vector<std::size_t> roots) {
    std::ranges::stable_sort(roots, {}, [this](std::size_t i) {
      const ProcessBirth& root = processes_[i];
      return std::tuple(root.spawn, root.rank.value_or(UINT32_MAX), !root.timed, root.begin);
    });
    for (const std::size_t root : roots) add(root);
  }

  // Without recursion: a chain of processes can be long.
  void add(std::size_t root) {
    std::vector<std::size_t> waiting{root};
    while (!waiting.empty()) {
      const std::size_t next = waiting.back();
      waiting.pop_back();
      if (ranked_[next]) continue;
      ranked_[next] = true;
      order_.push_back(next);
      const std::vector<std::size_t> children = sorted_children(next);
      waiting.insert(waiting.end(), children.rbegin(), children.rend());
    }
  }

  std::vector<std::size_t> sorted_children(std::size_t parent) {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::string, std::uint32_t, Timestamp,
                           std::size_t>;
    std::vector<Key> keys;
    for (const std::size_t i : children_[parent]) {
      const ProcessBirth& child = processes_[i];
      const std::uint32_t rank = child.spawn == 0 ? 0 : child.rank.value_or(0);
      keys.emplace_back(child.spawn, rank, sort_key(child.name),
                        birth_of(child, processes_[parent]), child.begin, i);
    }
    std::ranges::sort(keys);
    std::vector<std::size_t> sorted;
    for (const Key& key : keys) sorted.push_back(std::get<std::size_t>(key));
    return sorted;
  }

  const std::vector<ProcessBirth>& processes_;
  std::vector<std::vector<std::size_t>> children_;  // of processes
  std::vector<std::size_t> roots_;
  std::vector<bool> ranked_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::string way_to_parent(const std::string& spool, const std::string& parent) {
  return (std::filesystem::path(spool).parent_path() / parent).lexically_normal().string();
}

std::vector<std::size_t> order_of(const std::vector<ProcessBirth>& processes) {
  return Ranks(processes).take();
}

}  // namespace timeloom::weave
