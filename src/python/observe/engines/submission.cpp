// The callable that stands for a method of an engine which asks for tasks, see task_region.hpp.
#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/engines/engine_regions.hpp"
#include "python/api/user_region.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/engines/task_region.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/region_style.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constexpr std::size_t kMostNeedsOfRequest = 10'000;  // of a task

struct Submission {
  PyObject_HEAD PyObject* function;
  PyTypeObject* reference;  // the type of references to values, which know their tasks
  const char* engine;
  const char* region;
  vectorcallfunc call;
};

Submission* submission_of(PyObject* self) { return reinterpret_cast<Submission*>(self); }

struct Facts {
  std::string key;  // empty: not known
  std::vector<std::string> needs;
};

// The id of the task that makes a value; empty: the object does not refer to one. Both methods are
// in C, so that no handler of a signal runs here, whose exception would be lost.
std::string task_behind(const Submission& method, PyObject* object) {
  if (object == nullptr || !Py_IS_TYPE(object, method.reference)) return {};
  const Ref task(PyObject_CallMethod(object, "task_id", nullptr));
  const Ref text(task ? PyObject_CallMethod(task.get(), "hex", nullptr) : nullptr);
  if (text && PyUnicode_Check(text.get())) return utf8_text(text.get());
  PyErr_Clear();
  return {};
}

// The first of several results, or the reference of a task that yields its results.
Ref first_reference(const Submission& method, PyObject* result) {
  if (PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) > 0)
    return Ref::borrow(PyTuple_GET_ITEM(result, 0));
  if (PyList_CheckExact(result) && PyList_GET_SIZE(result) > 0)
    return Ref(PySequence_GetItem(result, 0));
  if (Py_IS_TYPE(result, method.reference)) return Ref::borrow(result);
  Ref inner(PyObject_GetAttrString(result, "_generator_ref"));
  if (!inner) PyErr_Clear();
  return inner;
}

// Engines look for references among the arguments of a task, and not within them.
void add_needs(const Submission& method, PyObject* values, std::vector<std::string>& needs) {
  const bool is_list =
      values != nullptr && (PyTuple_CheckExact(values) || PyList_CheckExact(values));
  const Ref all(is_list ? PySequence_Tuple(values) : nullptr);
  for (Py_ssize_t i = 0; all && i < PyTuple_GET_SIZE(all.get()); ++i) {
    if (needs.size() == kMostNeedsOfRequest) return;
    std::string need = task_behind(method, PyTuple_GET_ITEM(all.get(), i));
    if (!need.empty()) needs.push_back(std::move(need));
  }
}

bool records_facts() noexcept {
  return record::active() && record::recording() && record::t_recorder != nullptr &&
         !record::t_recorder->aggregates();
}

// The arguments of a call of a method.
struct Given {
  PyObject* const* arguments;
  std::size_t flags;
  PyObject* keywords;

  // The argument with this keyword, borrowed; null: the call has none.
  PyObject* named(const char* name) const {
    const Py_ssize_t count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (is_text(PyTuple_GET_ITEM(keywords, i), name))
        return arguments[PyVectorcall_NARGS(flags) + i];
    }
    return nullptr;
  }
};

Facts facts_of(const Submission& method, PyObject* result, const Given& given) {
  const Unobserved nothing_of_this;
  const ErrorGuard guard;
  Facts facts{task_behind(method, first_reference(method, result).get()), {}};
  if (facts.key.empty()) return facts;
  add_needs(method, given.named("args"), facts.needs);
  PyObject* const named = given.named("kwargs");
  const Ref values(named != nullptr && PyDict_CheckExact(named) ? PyDict_Values(named) : nullptr);
  add_needs(method, values.get(), facts.needs);
  PyErr_Clear();
  return facts;
}

// Of a call that has returned `result`.
void note_submission(const Submission& method, PyObject* result, const Given& given) noexcept try {
  if (!records_facts()) return;
  const Facts facts = facts_of(method, result, given);
  if (facts.key.empty() || !records_facts()) return;
  put_submitted(facts.key);
  for (const std::string& need : facts.needs) put_task_need(need);
} catch (const std::exception&) {
  return;  // out of memory: the time of the submission is not known
}

// 0: nothing is recorded of the call.
EventWord word_of_request(const Submission& method) noexcept try {
  const bool records =
      record::active() && record::recording() && &region_style() == &kTimeloomNames;
  return records ? transfer_word(method.engine, method.region) : 0;
} catch (const std::bad_alloc&) {
  return 0;
}

PyObject* call_submission(PyObject* self, PyObject* const* arguments, std::size_t flags,
                          PyObject* keywords) {
  const Submission& method = *submission_of(self);
  const EventWord word = word_of_request(method);
  if (word == 0) return PyObject_Vectorcall(method.function, arguments, flags, keywords);
  enter_user_region(word);
  PyObject* const result = PyObject_Vectorcall(method.function, arguments, flags, keywords);
  if (result != nullptr) note_submission(method, result, {arguments, flags, keywords});
  if (record::active()) leave_own_user_region(word);
  return result;
}

// A method of the class whose attribute it is.
PyObject* bind_submission(PyObject* self, PyObject* object, PyObject*) {
  return object == nullptr ? Py_NewRef(self) : PyMethod_New(self, object);
}

void dealloc_submission(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(submission_of(self)->function);
  Py_DECREF(submission_of(self)->reference);
  PyObject_Free(self);
  Py_DECREF(type);
}

// Engines ask some methods for their attributes.
PyObject* attribute_of_submission(PyObject* self, PyObject* name) {
  return PyObject_GetAttr(submission_of(self)->function, name);
}

PyMemberDef kSubmissionMembers[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Submission, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot kSubmissionSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_submission)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void*>(bind_submission)},
    {Py_tp_getattro, reinterpret_cast<void*>(attribute_of_submission)},
    {Py_tp_members, kSubmissionMembers},
    {0, nullptr}};
PyType_Spec kSubmissionSpec = {
    "timeloom._core.Submission", sizeof(Submission), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    kSubmissionSlots};
PyTypeObject* g_submission_type = nullptr;

// ray_submission(method, reference)
PyObject* make_ray_submission(PyObject*, PyObject* arguments) {
  PyObject *function = nullptr, *reference = nullptr;
  if (!PyArg_ParseTuple(arguments, "OO!", &function, &PyType_Type, &reference)) return nullptr;
  auto* const method = PyObject_New(Submission, g_submission_type);
  if (method == nullptr) return nullptr;
  method->function = Py_NewRef(function);
  method->reference = reinterpret_cast<PyTypeObject*>(Py_NewRef(reference));
  method->engine = kRayGroup;
  method->region = kRayRequest;
  method->call = call_submission;
  return reinterpret_cast<PyObject*>(method);
}

PyMethodDef kSubmissionMaker[] = {{"ray_submission", make_ray_submission, METH_VARARGS,
                                   "A method that asks for tasks of Ray, and records that."},
                                  {nullptr, nullptr, 0, nullptr}};

}  // namespace

int add_submission_type(PyObject* module) {
  g_submission_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kSubmissionSpec));
  return g_submission_type == nullptr ? -1 : PyModule_AddFunctions(module, kSubmissionMaker);
}

}  // namespace timeloom::python
