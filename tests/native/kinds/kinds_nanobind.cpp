// Functions of nanobind.
#include <nanobind/nanobind.h>

#include <stdexcept>

namespace {
struct Box {
  int method() const { return 1; }
};
}  // namespace

NB_MODULE(kinds_nanobind, module) {
  module.def("function", [] { return 1; });
  module.def("fails", []() -> int { throw nanobind::value_error(""); });
  nanobind::class_<Box>(module, "Box")
      .def(nanobind::init<>())
      .def("method", &Box::method)
      .def_static("static_method", [] { return 1; })
      .def_prop_ro("value", &Box::method);
}
