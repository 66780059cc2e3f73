#include "python/launch/layout.hpp"

#include <stdexcept>

namespace timeloom::python {

const Layout& layout_of(const Settings& settings) {
  const std::string name = settings.text("layout");
  for (const Layout* layout : {&kTimeloomLayout, &kScorepLayout}) {
    if (layout->name == name) return *layout;
  }
  throw std::logic_error("no layout is called " + name);
}

}  // namespace timeloom::python
