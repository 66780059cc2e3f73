#include "python/instrumenter.hpp"

#include <unordered_map>

#include "python/code_regions.hpp"
#include "python/errors.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

const Instrumenter kDummy{"dummy", false, [](bool) { return true; }, [] {}};

namespace {

const Instrumenter* const kInstrumenters[] = {&kMonitoring, &kFrame, &kProfile, &kTrace, &kDummy};

// Why there are these defaults: monitoring costs nothing where it is disabled
// and leaves the C stack alone; before 3.12 the frame hook is the cheapest.
const Instrumenter* choose(bool c_functions) {
  if (kHasMonitoring) return &kMonitoring;
  return c_functions ? &kProfile : &kFrame;
}

}  // namespace

const Instrumenter* find_instrumenter(const std::string& name, bool c_functions) {
  if (name == "auto") return choose(c_functions);
  for (const Instrumenter* instrumenter : kInstrumenters) {
    if (name != instrumenter->name) continue;
    if (instrumenter == &kMonitoring && !kHasMonitoring) {
      PyErr_SetString(g_error,
                      "the instrumenter \"monitoring\" needs Python 3.12 or later; use "
                      "--instrumenter frame or profile here");
      return nullptr;
    }
    if (c_functions && !instrumenter->c_functions) {
      PyErr_Format(g_error,
                   "the instrumenter \"%s\" cannot record C functions; use --instrumenter %s with "
                   "--c-functions",
                   instrumenter->name, choose(true)->name);
      return nullptr;
    }
    return instrumenter;
  }
  PyErr_Format(g_error,
               "there is no instrumenter \"%s\"; choose auto, monitoring, frame, profile, trace or "
               "dummy",
               name.c_str());
  return nullptr;
}

// The same callables that CPython itself reports to a profile function.
PyMethodDef* c_function_of(PyObject* callable) noexcept {
  if (PyCFunction_Check(callable)) {
    return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  }
  if (Py_IS_TYPE(callable, &PyMethodDescr_Type)) {
    return reinterpret_cast<PyMethodDescrObject*>(callable)->d_method;
  }
  return nullptr;
}

namespace {

Region region_of(PyMethodDef* method, PyObject* callable) {
  Region region;
  const Ref module(PyObject_GetAttrString(callable, "__module__"));
  const Ref qualified(PyObject_GetAttrString(callable, "__qualname__"));
  if (!module || !PyUnicode_Check(module.get())) {
    region.group = "builtins";  // methods of the built-in types have no module
  } else {
    region.group = text_of(module.get());
  }
  const bool named = qualified && PyUnicode_Check(qualified.get());
  region.name = region.group + "." + (named ? text_of(qualified.get()) : method->ml_name);
  PyErr_Clear();
  region.canonical_name = region.name;
  region.paradigm = Paradigm::kCompiler;
  region.role = RegionRole::kFunction;
  return region;
}

std::unordered_map<PyMethodDef*, EventWord>& c_function_words() {
  static auto* const words = new std::unordered_map<PyMethodDef*, EventWord>;
  return *words;
}

record::Token token_of(PyMethodDef* method) noexcept {
  return reinterpret_cast<record::Token>(method);
}

}  // namespace

void enter_c_function(PyMethodDef* method, PyObject* callable) noexcept {
  try {
    auto [entry, is_new] = c_function_words().try_emplace(method, 0);
    if (is_new) {
      const ErrorGuard guard;
      const Region region = region_of(method, callable);
      entry->second =
          excludes(region) ? kExcluded : record::enter_word(record::define_region(region));
    }
    if (is_region(entry->second)) record::t_recorder->enter(token_of(method), entry->second);
  } catch (const std::exception&) {
    return;  // out of memory: this call is not recorded
  }
}

void leave_c_function(PyMethodDef* method) noexcept {
  const auto entry = c_function_words().find(method);
  if (entry != c_function_words().end() && is_region(entry->second)) {
    record::t_recorder->leave(token_of(method));
  }
}

}  // namespace timeloom::python
