#include "tools/report/report_compensation.hpp"

#include "core/error.hpp"
#include "tools/text/formatted.hpp"

namespace timeloom::tools {

CallCost call_cost_of(const Definitions& definitions) {
  const auto cost = measuring_cost_of(definitions.properties);
  if (!cost || cost->event == 0) {
    throw Error(
        "this run does not record what measuring a call cost, so it cannot be subtracted; runs of "
        "Python programs that came to their end do [TL420]");
  }
  return cost->call();
}

std::string compensation_text(const CallCost& cost) {
  const auto ns = [](double seconds) { return seconds * 1e9; };
  const double all = ns(cost.inside + cost.outside);
  return formatted(
      "*: less {:.0f} ns a visit and {:.0f} ns a call made; in truth {:.0f} to {:.0f} in all",
      ns(cost.inside), ns(cost.outside), kLeastOfStated * all, cost.most * all);
}

}  // namespace timeloom::tools
