#include "run/run_layout.hpp"

#include <array>

#include "core/run_properties.hpp"

namespace timeloom::run {

const Layout& layout_of(const std::map<std::string, std::string>& properties) noexcept {
  const auto property = properties.find(kLayout);
  if (property == properties.end()) return kTimeloomLayout;
  for (const Layout* layout : std::array{&kTimeloomLayout, &kScorepLayout, &kOmnitraceLayout}) {
    if (layout->name == property->second) return *layout;
  }
  return kTimeloomLayout;
}

}  // namespace timeloom::run
