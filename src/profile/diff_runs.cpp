#include "profile/diff_runs.hpp"

#include <algorithm>
#include <utility>

namespace timeloom::profile {

namespace {

constexpr std::size_t kLeastRuns = 3;
constexpr std::size_t kLeastRegions = 5;
constexpr double kMuchWork = 0.005;  // of all work, for a region that tells the factor

// The mean of the two in the middle, of an even number. REQUIRES: there are some.
double median(std::vector<double> values) {
  const auto [least, most] = middle_pair(std::move(values));
  return (least + most) / 2;
}

template <typename Value>
std::vector<double> values_of(const std::vector<RunSides>& runs, Value value) {
  std::vector<double> values;
  for (const RunSides& one : runs) values.push_back(static_cast<double>(value(one)));
  return values;
}

DiffRange range_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return {least, most};
}

// The median work of each region in all runs; 0: it has too little to tell a factor.
std::vector<double> reference_work(const std::vector<RunSides*>& runs) {
  std::vector<double> reference;
  std::vector<double> totals;
  for (const RunSides* run : runs) totals.push_back(run->working);
  const double least = kMuchWork * median(totals);
  for (std::size_t i = 0; i < runs.front()->regions.size(); ++i) {
    std::vector<double> values;
    for (const RunSides* run : runs) values.push_back(run->regions[i].working);
    const double middle = median(values);
    reference.push_back(middle > 0 && middle >= least ? middle : 0);
  }
  return reference;
}

double factor_of(const RunSides& run, const std::vector<double>& reference) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    if (reference[i] > 0) ratios.push_back(run.regions[i].working / reference[i]);
  }
  return median(ratios);
}

void divide(std::vector<DiffSide>& sides, double factor) {
  for (DiffSide& one : sides) {
    one.working /= factor;
    one.inclusive_working /= factor;
  }
}

}  // namespace

DiffSide& operator+=(DiffSide& sum, const DiffSide& one) {
  sum.there |= one.there;
  sum.at_least |= one.at_least;
  sum.visits += one.visits;
  sum.inclusive += one.inclusive;
  sum.exclusive += one.exclusive;
  sum.working += one.working;
  sum.waiting += one.waiting;
  sum.inclusive_working += one.inclusive_working;
  return sum;
}

std::vector<double> divide_by_factors(const std::vector<RunSides*>& runs) {
  if (runs.size() < kLeastRuns) return {};
  const std::vector<double> reference = reference_work(runs);
  const auto telling = std::ranges::count_if(reference, [](double one) { return one > 0; });
  if (static_cast<std::size_t>(telling) < kLeastRegions) return {};
  std::vector<double> factors;
  for (const RunSides* run : runs) factors.push_back(factor_of(*run, reference));
  if (std::ranges::min(factors) <= 0) return {};  // one of them is another program
  for (std::size_t i = 0; i < runs.size(); ++i) {
    divide(runs[i]->regions, factors[i]);
    divide(runs[i]->nodes, factors[i]);
  }
  return factors;
}

DiffTotals totals_of(const std::vector<RunSides>& runs) {
  const auto working = values_of(runs, [](const RunSides& one) { return one.working; });
  const auto all = values_of(runs, [](const RunSides& one) { return one.total; });
  return {runs.size(), median(all), median(working), range_of(working), {}};
}

DiffSide median_of(const std::vector<RunSides>& runs, std::vector<DiffSide> RunSides::*which,
                   std::size_t index) {
  if (runs.size() == 1) {
    DiffSide only = (runs.front().*which)[index];
    only.working_range = {only.working, only.working};
    only.inclusive_working_range = {only.inclusive_working, only.inclusive_working};
    return only;
  }
  const auto values = [&](auto DiffSide::*member) {
    return values_of(runs, [&](const RunSides& one) { return (one.*which)[index].*member; });
  };
  DiffSide side;
  for (const RunSides& run : runs) {
    side.there |= (run.*which)[index].there;
    side.at_least |= (run.*which)[index].at_least;
  }
  side.visits = static_cast<std::int64_t>(median(values(&DiffSide::visits)));
  side.inclusive = median(values(&DiffSide::inclusive));
  side.exclusive = median(values(&DiffSide::exclusive));
  side.working = median(values(&DiffSide::working));
  side.waiting = median(values(&DiffSide::waiting));
  side.inclusive_working = median(values(&DiffSide::inclusive_working));
  side.working_range = range_of(values(&DiffSide::working));
  side.inclusive_working_range = range_of(values(&DiffSide::inclusive_working));
  return side;
}

}  // namespace timeloom::profile
