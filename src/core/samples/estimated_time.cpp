#include "core/samples/estimated_time.hpp"

#include <algorithm>
#include <cmath>

namespace timeloom {

double estimate_error(double squares) noexcept { return 2 * std::sqrt(std::max(squares, 0.0)); }

bool has_estimates(const Definitions& definitions) {
  return std::ranges::any_of(definitions.metrics,
                             [](const Metric& one) { return one.name == kEstimatedTime; });
}

}  // namespace timeloom
