#include "python/observe/hooks/c_functions.hpp"

#include <link.h>

#include <exception>
#include <string>
#include <string_view>
#include <unordered_map>

#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

constinit std::array<ReadyFunction, kReadyFunctions> g_ready_functions{};

namespace {

// The class that a built-in method belongs to, nullptr for plain functions. A
// bound method knows its object only, which may be of a class derived from it. Functions whose
// maker has named a module are plain ones, whatever object they have: for pybind11, it is its own
// record of the function. Static methods have their class, and from Python 3.15 on a module as
// well.
PyTypeObject* class_of(PyMethodDef* method, PyObject* callable) {
  if (!PyCFunction_Check(callable)) {
    return reinterpret_cast<PyMethodDescrObject*>(callable)->d_common.d_type;
  }
  const auto* const function = reinterpret_cast<PyCFunctionObject*>(callable);
  PyObject* const self = function->m_self;  // borrowed
  const bool is_static = (method->ml_flags & METH_STATIC) != 0;
  if (self == nullptr || PyModule_Check(self)) return nullptr;
  if (function->m_module != nullptr && !is_static) return nullptr;
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

// The name without the module, and its last part.
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

// The name that the results give to the region.
std::string last_method_name(const Region& region, const InstrumenterNames& names) {
  const RegionStyle& style = region_style();
  if (style.label == nullptr) return region.name;
  return label_parts().qualified ? names.qualified : names.bare;
}

// All classes share it as their __new__. Found before the first C function is entered.
PyMethodDef* g_new = nullptr;

void find_new() noexcept {
  if (g_new != nullptr) return;
  auto* object = reinterpret_cast<PyObject*>(&PyBaseObject_Type);
  g_new = c_function_of(Ref(PyObject_GetAttrString(object, "__new__")).get());
}

// The address is the token of a call, too. The class tells apart what all classes share. The name
// tells a definition that was freed from the one in its place: extensions make definitions at run
// time.
struct Key {
  const void* address;
  const char* name;
};
Key key_of(PyMethodDef* method, PyObject* callable) noexcept {
  if (method != g_new) return {method, method->ml_name};
  PyObject* type = reinterpret_cast<PyCFunctionObject*>(callable)->m_self;
  return {type, reinterpret_cast<PyTypeObject*>(type)->tp_name};
}

record::Token token_of_key(const Key& key) noexcept {
  return reinterpret_cast<record::Token>(key.address);
}

struct KnownFunction {
  std::string name;
  EventWord word;
  bool lasting;  // its definition is never freed
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

// A callback of dl_iterate_phdr(); 1 ends the search.
int lies_in_object(dl_phdr_info* info, std::size_t, void* data) noexcept {
  const std::uintptr_t address = *static_cast<const std::uintptr_t*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) return 1;
  }
  return 0;
}

// Whether it is a part of a program or library: Python unloads none.
bool is_in_loaded_object(const void* what) noexcept {
  auto address = reinterpret_cast<std::uintptr_t>(what);
  return ::dl_iterate_phdr(lies_in_object, &address) != 0;
}

KnownFunction c_function(const Key& key, PyMethodDef* method, PyObject* callable) {
  const auto known = c_functions().find(key.address);
  if (known != c_functions().end() && known->second.name == key.name) return known->second;
  const ErrorGuard guard;
  // The table is touched afterwards: it may run other threads.
  const EventWord word = decide_c_function(method, callable);
  const bool lasting =
      method != g_new && is_in_loaded_object(key.address) && is_in_loaded_object(key.name);
  KnownFunction function{key.name, word, lasting};
  c_functions().insert_or_assign(key.address, function);
  return function;
}

// Enters a function that is not ready, and makes it ready for the calls that follow.
[[gnu::noinline, gnu::cold]] void enter_unready(PyMethodDef* method, PyObject* callable) noexcept {
  const CriticalSection critical;
  try {
    find_new();
    const std::uint64_t measurement = ready_from();  // the program's code may run meanwhile
    const Key key = key_of(method, callable);
    const KnownFunction function = c_function(key, method, callable);
    const bool settled =
        !is_region(function.word) || record::enter_region(token_of_key(key), function.word);
    if (kHasGil && settled && function.lasting)
      ready_function(method) = {method, key.name, measurement | function.word};
  } catch (const std::exception&) {
    return;  // out of memory: this call is not recorded
  }
}

// The function that is open innermost, whatever user regions are open inside it; 0: none.
record::Token innermost_function(const record::ThreadRecorder& recorder) noexcept {
  const auto open = recorder.open_regions();
  for (auto region = open.rbegin(); region != open.rend(); ++region) {
    if (record::is_function(region->token)) return record::bare_token(region->token);
  }
  return 0;
}

}  // namespace

// The same callables that CPython itself reports to a profile function.
PyMethodDef* c_function_of(PyObject* callable) noexcept {
  if (PyCFunction_Check(callable)) {
    return reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  }
  return plain_c_function(callable);
}

PyObject* function_of_method(PyObject* callable) noexcept {
  while (PyMethod_Check(callable)) callable = PyMethod_GET_FUNCTION(callable);
  return callable;
}

EventWord decide_c_function(PyMethodDef* method, PyObject* callable) {
  InstrumenterNames names;
  Region region = c_function_region(method, callable, names);
  const bool left_out = is_own(region) || excludes_c_function(region, names.bare);
  region.name = last_method_name(region, names);
  return left_out ? kExcluded : record::enter_word(record::region_id(region));
}

bool is_reported_whole(PyObject* const* arguments) noexcept {
  return !PyMethod_Check(arguments[2]) ||
         !unpacks_arguments(code_argument(arguments), PyLong_AsSsize_t(arguments[1]));
}

void enter_c_function(PyMethodDef* method, PyObject* callable, PyCodeObject* caller) noexcept {
  if (record::t_recorder->innermost() != token_of(caller)) {
    leave_returned_c_function(*record::t_recorder, caller);
  }
  EventWord word = 0;
  if (!ready_c_function(method, &word)) return enter_unready(method, callable);
  if (is_region(word)) record::t_recorder->enter(token_of_method(method), word);
}

void leave_c_function(PyMethodDef* method, PyObject* callable) noexcept {
  leave_innermost_function(*record::t_recorder, token_of_key(key_of(method, callable)));
}

void leave_innermost_function(record::ThreadRecorder& recorder, record::Token token) noexcept {
  if (recorder.leave_last(token)) return;
  if (innermost_function(recorder) == token) recorder.leave_outer(token);
}

void leave_returned_c_function(record::ThreadRecorder& recorder, PyCodeObject* caller) noexcept {
  const auto open = recorder.open_regions();
  if (open.size() < 2) return;
  const record::Token inner = open.back().token;
  const record::Token own = token_of(caller);
  if (!record::is_function(inner) || record::bare_token(inner) == own) return;
  if (record::bare_token(open[open.size() - 2].token) != own) return;
  recorder.leave_outer(inner);
}

}  // namespace timeloom::python
