// Functions of pybind11.
#include <pybind11/pybind11.h>

#include <stdexcept>

namespace {
struct Box {
  int method() const { return 1; }
};
}  // namespace

PYBIND11_MODULE(kinds_pybind11, module) {
  module.def("function", [] { return 1; });
  module.def("overloaded", [](int) { return 1; });
  module.def("overloaded", [](const char*) { return 1; });
  module.def("fails", []() -> int { throw std::invalid_argument(""); });
  module.def("calls_back", [](const pybind11::function& callback) { callback(); });
  pybind11::class_<Box>(module, "Box")
      .def(pybind11::init<>())
      .def("method", &Box::method)
      .def_static("static_method", [] { return 1; })
      .def_property_readonly("value", &Box::method)
      .def("__add__", [](const Box&, int) { return 1; });
}
