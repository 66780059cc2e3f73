#include "python/observe/hooks/instrumenter.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/error.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/interpreter/say.hpp"
#include "python/observe/hooks/hook_probe.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"
#include "settings/overhead_setting.hpp"

namespace timeloom::python {

const Instrumenter kDummy{"dummy", {}, false, [](const InstrumentOptions&) { return true; }, [] {}};

namespace {

const Instrumenter* const kInstrumenters[] = {&kMonitoring, &kFrame, &kProfile, &kTrace, &kDummy};

// Why there are these defaults: monitoring costs nothing where it is disabled
// and leaves the C stack alone; before 3.12 the frame hook is the cheapest, where it is called for
// every function.
const Instrumenter* choose(const InstrumentOptions& what) {
  if (kHasMonitoring) return &kMonitoring;
  if (what.c_functions) return &kProfile;
  const bool needs_frame = what.tasks || what.budget;
  return needs_frame || calls_kept_from_hook().empty() ? &kFrame : &kProfile;
}

const Instrumenter& find_instrumenter(const std::string& name, const InstrumentOptions& what) {
  if (name == "auto") return *choose(what);
  for (const Instrumenter* instrumenter : kInstrumenters) {
    if (name == instrumenter->name) return *instrumenter;
  }
  throw std::logic_error("no instrumenter is called " + name);
}

}  // namespace

InstrumentOptions instrument_options(const Settings& settings) {
  return {.c_functions = settings.flag(kSettings.c_functions),
          .tasks = settings.flag(kSettings.async_tasks),
          .lanes = settings.text(kSettings.task_layout) == "lanes",
          .budget = overhead_limit_of(settings).has_value()};
}

const Instrumenter& instrumenter_of(const Settings& settings) {
  const InstrumentOptions what = instrument_options(settings);
  const std::string name = settings.text(kSettings.instrumenter);
  const Instrumenter& instrumenter = find_instrumenter(name, what);
  const std::string the_instrumenter =
      std::string("the instrumenter \"") + instrumenter.name + "\"";
  if (&instrumenter == &kMonitoring && !kHasMonitoring) {
    throw Error(settings.origin(kSettings.instrumenter) + ": " + the_instrumenter +
                " needs Python 3.12 or later; use --instrumenter frame or profile here");
  }
  if (what.c_functions && !instrumenter.can.c_functions) {
    throw Error(settings.origin(kSettings.c_functions) + ": " + the_instrumenter +
                " cannot record C functions; use --instrumenter " +
                choose({.c_functions = true})->name + " with --c-functions");
  }
  if (what.tasks && !instrumenter.can.tasks) {
    throw Error(settings.origin(kSettings.async_tasks) + ": " + the_instrumenter +
                " cannot tell tasks apart; use --instrumenter " + choose({.tasks = true})->name +
                " with --async-tasks" + (what.c_functions ? " and without --c-functions" : ""));
  }
  if (what.budget && !instrumenter.can.budget) {
    throw Error(settings.origin(kSettings.overhead) + ": " + the_instrumenter +
                " cannot keep to a limit; use --instrumenter " + choose({})->name);
  }
  return instrumenter;
}

void run_code_of_start(const Settings& settings) {
  if (&instrumenter_of(settings) == &kFrame || !kHasMonitoring) (void)calls_kept_from_hook();
}

std::string missing_calls(const Instrumenter& used) {
  return &used == &kFrame ? calls_kept_from_hook() : std::string();
}

void say_of_calls_kept_from_hook(const Settings& settings, const Instrumenter& used) {
  if (&used != &kFrame && (kHasMonitoring || settings.text(kSettings.instrumenter) != "auto"))
    return;
  const std::string& kept = calls_kept_from_hook();
  if (kept.empty() || instrument_options(settings).c_functions) return;
  const bool missing = !missing_calls(used).empty();
  say("this Python calls " + kept + " without asking the frame hook: " +
      (missing ? "calls are missing (--instrumenter profile records all)"
               : "--instrumenter profile is used, which takes longer"));
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

PyObject* function_of_method(PyObject* callable) noexcept {
  while (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
  return callable;
}

namespace {

// The class that a built-in method belongs to, nullptr for plain functions. A
// bound method knows its object only, which may be of a class derived from it.
PyTypeObject* class_of(PyMethodDef* method, PyObject* callable) {
  if (!PyCFunction_Check(callable)) {
    return reinterpret_cast<PyMethodDescrObject*>(callable)->d_common.d_type;
  }
  PyObject* self = reinterpret_cast<PyCFunctionObject*>(callable)->m_self;  // borrowed
  if (self == nullptr || PyModule_Check(self)) return nullptr;
  auto* type = PyType_Check(self) ? reinterpret_cast<PyTypeObject*>(self) : Py_TYPE(self);
  for (Py_ssize_t i = 0; type->tp_mro != nullptr && i < PyTuple_GET_SIZE(type->tp_mro); ++i) {
    PyObject* base = PyTuple_GET_ITEM(type->tp_mro, i);
    const Ref names(PyObject_GetAttrString(base, "__dict__"));
    const Ref found(names ? PyMapping_GetItemString(names.get(), method->ml_name) : nullptr);
    PyErr_Clear();
    if (!found) continue;
    const bool is_method = Py_IS_TYPE(found.get(), &PyMethodDescr_Type) ||
                           Py_IS_TYPE(found.get(), &PyClassMethodDescr_Type);
    if (is_method && reinterpret_cast<PyMethodDescrObject*>(found.get())->d_method == method) {
      return reinterpret_cast<PyTypeObject*>(base);
    }
  }
  return type;
}

std::string method_attribute(PyObject* object, const char* name) {
  const Ref value(PyObject_GetAttrString(object, name));
  PyErr_Clear();
  return value && PyUnicode_Check(value.get()) ? utf8_text(value.get()) : std::string{};
}

// Its name without its module, and the last part of that, are in `names`.
struct InstrumenterNames {
  std::string qualified, bare;
};

Region c_function_region(PyMethodDef* method, PyObject* callable, InstrumenterNames& names) {
  Region region;
  names.bare = method->ml_name;
  if (PyTypeObject* type = class_of(method, callable)) {
    auto* object = reinterpret_cast<PyObject*>(type);
    region.group = method_attribute(object, "__module__");
    region.name = method_attribute(object, "__qualname__") + "." + method->ml_name;
  } else {
    region.group = method_attribute(callable, "__module__");
    region.name = method->ml_name;
  }
  if (region.group.empty()) region.group = "builtins";
  names.qualified = region.name;
  region.name = region.group + "." + region.name;
  region.canonical_name = region.name;
  region.paradigm = Paradigm::kCompiler;
  region.role = RegionRole::kFunction;
  return region;
}

// As its region is called in the results.
std::string last_method_name(const Region& region, const InstrumenterNames& names) {
  const RegionStyle& style = region_style();
  if (style.label == nullptr) return region.name;
  return label_parts().qualified ? names.qualified : names.bare;
}

PyMethodDef* g_new = nullptr;  // what all classes share as their __new__

// The class tells apart what all classes share. The name tells a definition that was
// freed from the one in its place: extensions make definitions at run time.
struct Key {
  const void* address;
  const char* name;
};
Key key_of(PyMethodDef* method, PyObject* callable) noexcept {
  if (g_new == nullptr) {
    auto* object = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
    g_new = c_function_of(Ref(PyObject_GetAttrString(object, "__new__")).get());
  }
  if (method != g_new) return {method, method->ml_name};
  PyObject* type = reinterpret_cast<PyCFunctionObject*>(callable)->m_self;
  return {type, reinterpret_cast<PyTypeObject*>(type)->tp_name};
}

struct KnownFunction {
  std::string name;
  EventWord word;
};

// The decision of the rules in force on each C function.
std::unordered_map<const void*, KnownFunction>& c_functions() {
  static auto* const kFunctions = new std::unordered_map<const void*, KnownFunction>;
  static Py_ssize_t rules = -1;
  if (rules != code_index()) kFunctions->clear();
  rules = code_index();
  return *kFunctions;
}

// Our own functions are not part of the program.
bool is_own(const Region& region) {
  const std::string_view module = region.group;
  return module == "timeloom" || module.starts_with("timeloom.");
}

record::Token method_token(PyMethodDef* method) noexcept {
  return reinterpret_cast<record::Token>(method);
}

EventWord c_function_word(PyMethodDef* method, PyObject* callable) {
  const Key key = key_of(method, callable);
  const auto known = c_functions().find(key.address);
  if (known != c_functions().end() && known->second.name == key.name) return known->second.word;
  const ErrorGuard guard;
  // May run the program's code, and other threads: the table is touched afterwards.
  InstrumenterNames names;
  Region region = c_function_region(method, callable, names);
  const bool left_out = is_own(region) || excludes_c_function(region, names.bare);
  region.name = last_method_name(region, names);
  const EventWord word = left_out ? kExcluded : record::enter_word(record::region_id(region));
  c_functions().insert_or_assign(key.address, KnownFunction{key.name, word});
  return word;
}

// Without the user regions that are open inside of it; 0: none.
record::Token innermost_function() noexcept {
  const auto open = record::t_recorder->open_regions();
  for (auto region = open.rbegin(); region != open.rend(); ++region) {
    if (record::is_function(region->token)) return record::bare_token(region->token);
  }
  return 0;
}

}  // namespace

void enter_c_function(PyMethodDef* method, PyObject* callable, PyCodeObject* caller) noexcept {
  const CriticalSection critical;
  try {
    leave_returned_c_function(caller);
    const EventWord word = c_function_word(method, callable);
    if (is_region(word)) record::enter_region(method_token(method), word);
  } catch (const std::exception&) {
    return;  // out of memory: this call is not recorded
  }
}

void leave_c_function(PyMethodDef* method, PyObject* callable) noexcept {
  const CriticalSection critical;
  const auto known = c_functions().find(key_of(method, callable).address);
  if (known == c_functions().end() || !is_region(known->second.word)) return;
  const record::Token token = method_token(method);
  if (record::t_recorder->leave_last(token)) return;
  if (innermost_function() == token) record::t_recorder->leave_outer(token);
}

void leave_returned_c_function(PyCodeObject* caller) noexcept {
  const auto open = record::t_recorder->open_regions();
  if (open.size() < 2) return;
  const record::Token inner = open.back().token;
  const record::Token own = token_of(caller);
  if (!record::is_function(inner) || record::bare_token(inner) == own) return;
  if (record::bare_token(open[open.size() - 2].token) != own) return;
  record::t_recorder->leave_outer(inner);
}

}  // namespace timeloom::python
