#include "tools/report/answer.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/run_properties.hpp"
#include "core/samples/sampled_time.hpp"
#include "core/throttled.hpp"
#include "exchange/names.hpp"

namespace timeloom::tools {

namespace {

constexpr char kImporting[] = "importing modules";

// A function of Python that calls others, and neither loops nor waits for C, works less.
constexpr double kLongStretch = 5e-6;  // of seconds between two calls, on average

using profile::Node;

// What wrapper libraries record is known by its name.
bool is_wrapped(Paradigm paradigm) {
  return paradigm == Paradigm::kMpi || paradigm == Paradigm::kIo ||
         paradigm == Paradigm::kPthread || paradigm == Paradigm::kOpenMp ||
         paradigm == Paradigm::kKokkos || paradigm == Paradigm::kMemory;
}

}  // namespace

Answer::Answer(const profile::CallTree& tree, const profile::LocationFilter& filter,
               const std::optional<CallCost>& cost)
    : tree_(&tree),
      cost_(cost),
      times_(work_times(tree, filter, cost)),
      estimates_(tree, filter),
      owner_(tree.definitions) {
  adopt_program();
  add_functions();
  add_waiting();
}

std::string Answer::region_name(RegionId region) const {
  return owner_.is_import(region) ? kImporting : exchange::region_name(definitions(), region);
}

// Where the definitions do not tell the package of an installed program, it is the one below its
// start that works most.
void Answer::adopt_program() {
  if (owner_.adopt_program()) return;
  std::map<std::string, double> packages;
  std::vector<double> total = times_.working;
  for (std::size_t i = total.size(); i-- > 0;) {
    const Node& node = tree_->nodes[i];
    if (!node.region.defined()) continue;
    const bool main = definitions().regions[node.region.value()].group == "__main__";
    if (owner_.is_project(node.region) && !main) return;
    if (!node.parent.defined()) continue;
    total[node.parent.value()] += total[i];
    const RegionId above = tree_->nodes[node.parent.value()].region;
    if (above.defined() && !main && !owner_.is_import(node.region) &&
        definitions().regions[above.value()].group == "__main__") {
      const std::string package = owner_.package_of(node.region);
      if (package != "Python" && !package.empty()) packages[package] += total[i];
    }
  }
  const auto most =
      std::ranges::max_element(packages, {}, [](const auto& one) { return one.second; });
  double own = 0;
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (owner_.is_project(tree_->nodes[i].region)) own += times_.working[i];
  }
  if (most != packages.end() && own < 0.05 * times_.all_working) owner_.adopt(most->first);
}

// All functions of the import system are one row, and so is what libraries call while they are
// imported.
std::vector<std::size_t> Answer::rows_of_nodes() const {
  const std::size_t regions = definitions().regions.size();
  std::size_t import = regions;
  for (std::size_t i = 0; i < regions && import == regions; ++i) {
    if (owner_.is_import(RegionId{static_cast<std::uint32_t>(i)})) import = i;
  }
  std::vector<std::size_t> places;
  for (const Node& node : tree_->nodes) {
    const bool inside =
        import < regions && node.parent.defined() && places[node.parent.value()] == import;
    const bool imports = node.region.defined() && (owner_.is_import(node.region) ||
                                                   (inside && !owner_.is_project(node.region)));
    places.push_back(imports ? import : node.region.defined() ? node.region.value() : regions);
  }
  return places;
}

void Answer::add_functions() {
  const std::size_t regions = definitions().regions.size();
  const std::vector<std::size_t> places = rows_of_nodes();
  std::vector<FunctionRow> rows(regions + 1);  // the last is for nodes without a region
  std::vector<double> total = times_.working;
  for (std::size_t i = total.size(); i-- > 0;) {
    const Node& node = tree_->nodes[i];
    if (node.parent.defined()) total[node.parent.value()] += total[i];
  }
  std::vector<std::uint32_t> open(rows.size());
  std::vector<std::size_t> way;
  for (std::size_t i = 0; i < tree_->nodes.size(); ++i) {
    const Node& node = tree_->nodes[i];
    for (; way.size() > node.depth; way.pop_back()) --open[way.back()];
    const std::size_t place = places[i];
    FunctionRow& row = rows[place];
    if (place < regions) row.region = RegionId{static_cast<std::uint32_t>(place)};
    row.working += times_.working[i];
    row.measured += times_.measured_working[i];
    row.waiting += times_.waiting[i];
    row.causes += times_.causes[i];
    // The visits of "importing modules" are imports; functions that an import calls do not count.
    const bool called =
        place < regions && owner_.is_import(row.region) && !owner_.is_import(node.region);
    if (!called) row.visits += times_.visits[i];
    if (node.parent.defined()) rows[places[node.parent.value()]].calls += times_.visits[i];
    if (open[place]++ == 0) row.total += total[i];
    way.push_back(place);
  }
  for (FunctionRow& row : rows) {
    if (row.measured > 0) functions_.push_back(row);
    if (row.waiting > 0) waiting_.push_back(row);
  }
  std::ranges::stable_sort(functions_,
                           [](const auto& a, const auto& b) { return a.working > b.working; });
  std::ranges::stable_sort(waiting_,
                           [](const auto& a, const auto& b) { return a.waiting > b.waiting; });
}

std::optional<double> Answer::long_stretches() const {
  const auto& properties = definitions().properties;
  if (properties.contains(kSampleCount) || properties.contains(kCFunctions) ||
      !properties.contains("timeloom::python") || ThrottledFunctions(properties).any()) {
    return {};
  }
  double all = 0;
  for (const FunctionRow& row : functions_) {
    if (!row.region.defined() || owner_.is_import(row.region)) continue;
    if (is_wrapped(definitions().regions[row.region.value()].paradigm)) continue;
    const auto stretches = static_cast<double>(std::max<std::int64_t>(row.visits + row.calls, 1));
    if (row.working >= kLongStretch * stretches) all += row.working;
  }
  return times_.all_working == 0 ? 0 : all / std::abs(times_.all_working);
}

// For whom it was waited: the nearest caller in the project.
void Answer::add_waiting() {
  const std::vector<std::size_t> places = rows_of_nodes();
  std::map<std::pair<std::size_t, RegionId>, double> users;
  std::vector<RegionId> user(tree_->nodes.size());
  for (std::size_t i = 0; i < tree_->nodes.size(); ++i) {
    const Node& node = tree_->nodes[i];
    if (owner_.is_project(node.region)) {
      user[i] = node.region;
    } else if (node.parent.defined()) {
      user[i] = user[node.parent.value()];
    }
    if (times_.waiting[i] > 0) users[{places[i], user[i]}] += times_.waiting[i];
  }
  for (FunctionRow& row : waiting_) {
    double most = 0;
    const std::size_t place =
        row.region.defined() ? row.region.value() : definitions().regions.size();
    for (const auto& [key, time] : users) {
      if (key.first != place || time <= most) continue;
      most = time;
      row.user = key.second;
    }
    if (row.user == row.region) row.user = {};
  }
}

}  // namespace timeloom::tools
