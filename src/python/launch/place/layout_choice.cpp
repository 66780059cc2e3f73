#include "python/launch/place/layout_choice.hpp"

#include <stdexcept>

namespace timeloom::python {

const LaunchLayout& layout_of(const Settings& settings) {
  const std::string name = settings.text("layout");
  for (const LaunchLayout* one : {&kTimeloomLaunch, &kScorepLaunch, &kOmnitraceLaunch}) {
    if (one->layout.name == name) return *one;
  }
  throw std::logic_error("no layout is called " + name);
}

}  // namespace timeloom::python
