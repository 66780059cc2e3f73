// A variable can name exactly the metrics that reports can show.
#include <gtest/gtest.h>

#include "doors/omnitrace/format/metric.hpp"
#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom {
namespace {

TEST(OmnitraceMetrics, AreTheSameInVariablesAndReports) {
  for (const omnitrace::Metric& metric : omnitrace::all_metrics()) {
    std::vector<std::string_view> names(metric.aliases);
    names.push_back(metric.id);
    for (const std::string_view name : names) {
      const OmnitraceComponent* component = find_omnitrace_component(name);
      ASSERT_NE(component, nullptr) << name;
      EXPECT_EQ(component->sampled, metric.sampled) << name;
      EXPECT_EQ(component->why_not, "") << name;
      EXPECT_EQ(omnitrace::find_metric(name), &metric);
    }
  }
}

TEST(OmnitraceMetrics, ThatCannotBeMeasuredHaveNoReport) {
  for (const char* name : {"cpu_clock", "page_rss", "read_char", "process_cpu_clock"}) {
    EXPECT_NE(find_omnitrace_component(name)->why_not, "");
    EXPECT_EQ(omnitrace::find_metric(name), nullptr);
  }
}

}  // namespace
}  // namespace timeloom
