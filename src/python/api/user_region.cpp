#include "python/api/user_region.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "record/defined_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct RegionObject {
  PyObject_HEAD PyObject* name;  // str
  UserRegionWord word;
};

RegionObject* user_region_of(PyObject* object) { return reinterpret_cast<RegionObject*>(object); }

EventWord user_region_word(RegionObject* region) noexcept { return region->word.of(region->name); }

PyTypeObject* g_region_type = nullptr;
// Of the current measurement, and of its parents' measurements that a forked child continues.
PyObject* g_words = nullptr;     // dict: name of a region -> its enter word
PyObject* g_left_out = nullptr;  // dict: name of a region that a rule leaves out -> its word
PyObject* g_verdicts = nullptr;  // dict: name of a region -> the verdict of the current rules
Py_ssize_t g_verdicts_of = -1;   // these rules
std::uint64_t g_words_of = 0;    // first_measurement()

// region(name), and region(function) for the decorator without a name.
PyObject* region_vectorcall(PyObject* type, PyObject* const* arguments, std::size_t flags,
                            PyObject* keywords) {
  const bool one = PyVectorcall_NARGS(flags) == 1 && keywords == nullptr;
  if (one && is_decorable(arguments[0])) return decorate(Py_None, arguments[0]);
  if (!one || !PyUnicode_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "region() takes one argument, its name (a str)");
    return nullptr;
  }
  auto* region = PyObject_New(RegionObject, reinterpret_cast<PyTypeObject*>(type));
  if (region == nullptr) return nullptr;
  region->name = Py_NewRef(arguments[0]);
  region->word = {};
  return reinterpret_cast<PyObject*>(region);
}

void region_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(user_region_of(self)->name);
  PyObject_Free(self);
  Py_DECREF(type);
}

PyObject* region_enter(PyObject* self, PyObject*) {
  if (record::active()) enter_user_region(user_region_word(user_region_of(self)));
  return Py_NewRef(self);
}

PyObject* region_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (record::active()) leave_own_user_region(user_region_word(user_region_of(self)));
  return Py_NewRef(Py_None);
}

PyObject* region_call(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* const function = decorated_by(arguments, keywords);
  return function != nullptr ? decorate(user_region_of(self)->name, function) : nullptr;
}

PyObject* region_repr(PyObject* self) {
  return PyUnicode_FromFormat("timeloom.region(%R)", user_region_of(self)->name);
}

PyMethodDef kRegionMethods[] = {
    {"__enter__", region_enter, METH_NOARGS, nullptr},
    {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(region_exit)), METH_FASTCALL,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMemberDef kRegionMembers[] = {{"name", T_OBJECT, offsetof(RegionObject, name), READONLY, nullptr},
                                {nullptr, 0, 0, 0, nullptr}};
constexpr char kRegionDoc[] =
    "region(name, /)\n--\n\nA user region: `with region(name):` for a block, `@region(name)` for a "
    "function, `@region` for one that is named like the function. May be used from any thread, "
    "again and again; does nothing without a measurement.";
PyType_Slot kRegionSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(region_dealloc)},
                              {Py_tp_call, reinterpret_cast<void*>(region_call)},
                              {Py_tp_repr, reinterpret_cast<void*>(region_repr)},
                              {Py_tp_methods, kRegionMethods},
                              {Py_tp_members, kRegionMembers},
                              {Py_tp_doc, const_cast<char*>(kRegionDoc)},
                              {0, nullptr}};
PyType_Spec kRegionSpec = {"timeloom.region", sizeof(RegionObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, kRegionSlots};

Region user_region(PyObject* name, SourceLines lines) {
  Region region;
  region.name = utf8_text(name);
  region.canonical_name = region.name;
  region.paradigm = Paradigm::kUser;
  region.role = region_style().user_regions;
  region.file = std::move(lines.file);
  region.first_line = lines.first_line;
  region.last_line = lines.last_line;
  return region;
}

// The Python function that `object` is or wraps (functools.wraps); may be null.
Ref function_in(PyObject* object) {
  Ref inner = object == nullptr ? Ref{} : Ref::borrow(object);
  for (int depth = 0; inner && !PyFunction_Check(inner.get()) && depth < 100; ++depth) {
    inner = Ref(PyObject_GetAttrString(inner.get(), "__wrapped__"));
    PyErr_Clear();
  }
  return inner && PyFunction_Check(inner.get()) ? std::move(inner) : Ref{};
}

SourceLines source_lines_of_caller() {
  for (Ref frame = Ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame())); frame;
       frame = Ref(reinterpret_cast<PyObject*>(PyFrame_GetBack(frame.frame())))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    std::string file = file_of(code.code());
    if (is_own_file(file)) continue;
    const int line = PyFrame_GetLineNumber(frame.frame());
    const auto number = line > 0 ? static_cast<std::uint32_t>(line) : 0;
    return {std::move(file), number, number};
  }
  return {};
}

// Forgets the regions of past measurements: the first lines of a name in this one count.
void forget_past() noexcept {
  if (g_words_of == first_measurement()) return;
  g_words_of = first_measurement();
  for (PyObject* words : {g_words, g_left_out, g_verdicts}) PyDict_Clear(words);
}

EventWord known_word_of(PyObject* words, PyObject* name) noexcept {
  PyObject* known = PyDict_GetItemWithError(words, name);
  if (known == nullptr) PyErr_Clear();
  return known == nullptr ? 0 : PyLong_AsUnsignedLongLong(known);
}

EventWord keep(PyObject* words, PyObject* name, EventWord word) noexcept {
  const Ref number(PyLong_FromUnsignedLongLong(word));
  if (!number || PyDict_SetItem(words, name, number.get()) != 0) PyErr_Clear();
  return word;
}

Region user_region_at(PyObject* name, const SourceLines* lines) {
  return user_region(name, lines != nullptr ? *lines : source_lines_of_caller());
}

EventWord recorded_word(PyObject* name, const SourceLines* lines) {
  if (const EventWord known = known_word_of(g_words, name)) return known;
  const RegionId region = record::region_id(user_region_at(name, lines));
  note_region_around(region.value());
  return keep(g_words, name, record::enter_word(region));
}

// A word without a definition, with a unique number. Not of kind "enter".
EventWord left_out_word(PyObject* name) {
  if (const EventWord known = known_word_of(g_left_out, name)) return known;
  const auto number = static_cast<std::uint32_t>(PyDict_GET_SIZE(g_left_out) + 1);
  return keep(g_left_out, name, make_word(WordKind::kLeave, number & kMaxPayload));
}

EventWord verdict_on(PyObject* name, const SourceLines* lines) {
  if (g_verdicts_of != code_index()) PyDict_Clear(g_verdicts);
  g_verdicts_of = code_index();
  if (const EventWord known = known_word_of(g_verdicts, name)) return known;
  const bool left_out = excludes_user_region(user_region_at(name, lines));
  return keep(g_verdicts, name, left_out ? left_out_word(name) : recorded_word(name, lines));
}

constexpr record::Token kLeftOut = record::Token{1} << 40;

record::Token user_region_token(EventWord word) noexcept {
  return record::user_token(word) | (is_region(word) ? 0 : kLeftOut);
}

bool is_left_out(record::Token token) noexcept {
  return record::is_user_region(token) && (token & kLeftOut) != 0;
}

}  // namespace

// Python code determines the kind of function, with modules that the program may not have imported.
PyObject* decorate(PyObject* name, PyObject* function, bool itself) {
  const record::KeepOff nothing_of_this;
  const Ref decorators(PyImport_ImportModule("timeloom._decorators"));
  if (!decorators) return nullptr;
  return PyObject_CallMethod(decorators.get(), "decorate", "OOO", name, function,
                             itself ? Py_True : Py_False);
}

PyObject* decorated_by(PyObject* arguments, PyObject* keywords) noexcept {
  if (keywords == nullptr && PyTuple_GET_SIZE(arguments) == 1)
    return PyTuple_GET_ITEM(arguments, 0);
  PyErr_SetString(PyExc_TypeError, "a region as a decorator takes one function");
  return nullptr;
}

bool is_decorable(PyObject* object) noexcept {
  return PyCallable_Check(object) || PyObject_TypeCheck(object, &PyClassMethod_Type) ||
         PyObject_TypeCheck(object, &PyStaticMethod_Type);
}

SourceLines source_lines_of(PyObject* function) {
  const Ref inner = function_in(function);
  if (!inner) return source_lines_of_caller();
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(inner.get()));
  const auto line = code->co_firstlineno > 0 ? static_cast<std::uint32_t>(code->co_firstlineno) : 0;
  return {file_of(code), line, std::max(line, last_line_of(code))};
}

bool knows_user_region(PyObject* name) noexcept {
  const ErrorGuard guard;
  const CriticalSection critical;
  forget_past();
  return PyDict_Contains(g_words, name) == 1 || PyDict_Contains(g_left_out, name) == 1;
}

EventWord decorated_word(PyObject* region, PyObject* function) noexcept {
  if (PyUnicode_Check(region)) {
    const ErrorGuard guard;
    const SourceLines lines = source_lines_of(function);
    return user_region_word(region, &lines);
  }
  const Ref inner = function_in(region);
  if (!inner) return 0;
  auto* code = reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(inner.get()));
  EventWord word = known_word(code);
  if (word == 0) word = decide_word(code, PyFunction_GET_GLOBALS(inner.get()));
  return is_region(word) ? word : 0;
}

EventWord user_region_word(PyObject* name, const SourceLines* lines) noexcept {
  const ErrorGuard guard;
  const CriticalSection critical;
  forget_past();
  try {
    return filters_user_regions() ? verdict_on(name, lines) : recorded_word(name, lines);
  } catch (const std::exception&) {
    return 0;
  }
}

namespace {

// Skips frames of Timeloom's own Python code, which acts for its caller.
InterpreterFrame* calling_frame() noexcept {
  InterpreterFrame* frame = current_frame(PyThreadState_Get());
  while (frame != nullptr && known_word(code_of(frame)) == kOwn) frame = outer_frame_of(frame);
  return frame;
}

// The functions that have entered user regions. Kept where functions are left out, so that their
// parameters and counters inside their own region belong to it.
struct Opened {
  const record::Track* track;
  std::size_t depth;
  const InterpreterFrame* by;
};
thread_local std::vector<Opened> t_opened;

void note_opened() noexcept {
  const record::ThreadRecorder& recorder = *record::t_recorder;
  const Opened now{recorder.track(), recorder.depth(), calling_frame()};
  while (!t_opened.empty() && t_opened.back().depth >= now.depth) t_opened.pop_back();
  try {
    t_opened.push_back(now);
  } catch (const std::bad_alloc&) {
    return;  // then it is not associated
  }
}

bool has_opened_innermost(const InterpreterFrame* frame) noexcept {
  const record::ThreadRecorder& recorder = *record::t_recorder;
  if (!record::is_user_region(recorder.innermost())) return false;
  return std::ranges::any_of(t_opened, [&](const Opened& opened) {
    return opened.depth == recorder.depth() && opened.track == recorder.track() &&
           opened.by == frame;
  });
}

// True if the calling function is left out, and not in its own region.
bool in_left_out_function() noexcept {
  InterpreterFrame* frame = calling_frame();
  return frame != nullptr && is_excluded(known_word(code_of(frame))) &&
         !has_opened_innermost(frame);
}

}  // namespace

void enter_user_region(EventWord word) noexcept {
  if (word == 0) return;
  const record::Token token = user_region_token(word);
  if (record::recording() && is_region(word)) [[likely]] {
    if (record::is_defined(RegionId{payload_of(word)})) [[likely]] {
      record::t_recorder->enter(token, word);
    } else {
      record::enter_region(token, word);
    }
    if (filters_anything()) note_opened();
  } else if (record::active()) {
    record::t_recorder->enter_unrecorded(token);
  }
}

namespace {

void leave_with(bool (record::ThreadRecorder::*leave)(record::Token) noexcept,
                EventWord word) noexcept {
  if (word == 0) return;
  const record::Token token = user_region_token(word);
  if (!is_region(word)) {
    record::t_recorder->forget_unrecorded(token);
  } else if (record::recording()) {
    if (!(record::t_recorder->*leave)(token)) record::count_unmatched_leave();
  } else if (record::active()) {
    record::t_recorder->leave_unrecorded(token);
  }
}

}  // namespace

void leave_user_region(EventWord word) noexcept {
  leave_with(&record::ThreadRecorder::leave, word);
}

void leave_own_user_region(EventWord word) noexcept {
  if (is_region(word) && record::recording()) [[likely]] {
    if (record::t_recorder->leave_last(record::user_token(word))) [[likely]]
      return;
  }
  leave_with(&record::ThreadRecorder::leave_own, word);
}

bool in_left_out_region() noexcept {
  const record::ThreadRecorder& recorder = *record::t_recorder;
  if (recorder.beyond_depth() || is_left_out(recorder.innermost())) return true;
  return filters_anything() && in_left_out_function();
}

int add_region_types(PyObject* module) {
  for (PyObject** words : {&g_words, &g_left_out, &g_verdicts}) {
    if (*words == nullptr) *words = PyDict_New();
    if (*words == nullptr) return -1;
  }
  PyObject* type = PyType_FromSpec(&kRegionSpec);
  if (type == nullptr) return -1;
  g_region_type = reinterpret_cast<PyTypeObject*>(type);
  // Before 3.14 no slot of a spec sets this; it halves the cost of calling the type.
  g_region_type->tp_vectorcall = region_vectorcall;
  if (PyModule_AddObjectRef(module, "region", type) != 0) return -1;
  return add_decorator_types(module);
}

}  // namespace timeloom::python
