#include "python/observe/threads/thread_names.hpp"

#include <pthread.h>

#include <map>
#include <new>
#include <string>

#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/tasks/greenlets.hpp"
#include "python/observe/threads/thread_events.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

constinit thread_local InterpreterFrame* t_first_frame = nullptr;

// A thread of `threading` begins in Thread._bootstrap, before it is entered in
// the table of running threads.
bool is_bootstrap_code(PyCodeObject* code) noexcept {
  return PyUnicode_CompareWithASCIIString(code->co_qualname, "Thread._bootstrap") == 0;
}

Ref outermost_frame() noexcept {
  Ref frame(PyThreadState_GetFrame(PyThreadState_Get()));
  while (frame) {
    Ref back(PyFrame_GetBack(frame.frame()));
    if (!back) break;
    frame = std::move(back);
  }
  return frame;
}

// The Thread object that a bootstrap frame was called on. A filter may hide that frame, so that
// another one is the first to record.
Ref thread_of_bootstrap() noexcept {
  InterpreterFrame* const first = t_first_frame;
  if (first != nullptr && is_bootstrap_code(code_of(first))) return Ref::borrow(local_of(first, 0));
  const Ref frame = outermost_frame();
  if (!frame) return Ref{};
  const Ref code(PyFrame_GetCode(frame.frame()));
  if (!is_bootstrap_code(code.code())) return Ref{};
  const Ref locals(PyFrame_GetLocals(frame.frame()));
  return locals ? Ref(PyMapping_GetItemString(locals.get(), "self")) : Ref{};
}

// The Thread object of a running thread, if `threading` knows it.
Ref running_thread(std::uintptr_t thread) noexcept {
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  PyObject* threading = PyDict_GetItemString(modules, "threading");
  if (threading == nullptr) return Ref{};
  const Ref active(PyObject_GetAttrString(threading, "_active"));
  const Ref key(PyLong_FromUnsignedLongLong(thread));
  if (!active || !key) return Ref{};
  return Ref(PyObject_GetItem(active.get(), key.get()));
}

// Whether a process was forked on this thread, which had a name of its own before: workers that a
// pool starts again are. It is the main thread of the process.
bool has_become_main(const Ref& thread) noexcept {
  PyObject* threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");  // borrowed
  if (threading == nullptr) return false;
  const Ref main(PyObject_GetAttrString(threading, "_main_thread"));
  const Ref type(main ? PyObject_GetAttrString(threading, "_MainThread") : nullptr);
  if (!type) PyErr_Clear();
  return type && main.get() == thread.get() &&
         reinterpret_cast<PyObject*>(Py_TYPE(main.get())) != type.get();
}

// Empty when the object has no name.
std::string thread_name(const Ref& thread) {
  if (!thread) return {};
  if (has_become_main(thread)) return "MainThread";
  const Ref name(PyObject_GetAttrString(thread.get(), "_name"));
  return name && PyUnicode_Check(name.get()) ? utf8_text(name.get()) : std::string{};
}

// From the objects of that interpreter alone. Before 3.12 the thread that runs may be another one.
std::string name_in_sub_interpreter() {
  if (!kHasMonitoring || python::running_thread() == nullptr) return {};
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  std::string name = thread_name(thread_of_bootstrap());
  PyErr_Clear();
  if (name.empty()) name = thread_name(running_thread(static_cast<std::uintptr_t>(pthread_self())));
  PyErr_Clear();
  return name;
}

std::string name_this_thread(std::uint32_t location) {
  // A thread that ends may record without a thread state.
  if (!in_main_interpreter()) return name_in_sub_interpreter();
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  const CriticalSection critical;
  look_for_greenlets();
  const Ref thread = thread_of_bootstrap();
  std::string name = thread_name(thread);
  PyErr_Clear();
  note_begin_of(thread.get(), location);
  if (name.empty()) name = thread_name(running_thread(static_cast<std::uintptr_t>(pthread_self())));
  PyErr_Clear();
  if (name.empty() && location == 0) name = "MainThread";
  return name;
}

}  // namespace

std::string name_of_running_thread(std::uintptr_t thread) noexcept {
  const Unobserved nothing_of_this;
  std::string name = thread_name(running_thread(thread));
  PyErr_Clear();
  return name;
}

namespace {

void note_thread(record::ThreadRecorder&, std::uintptr_t thread, void* names) {
  static_cast<std::map<std::uintptr_t, std::string>*>(names)->try_emplace(thread);
}

void rename_running_threads() {
  std::map<std::uintptr_t, std::string> names;
  record::for_each_recorder(note_thread, &names);
  for (auto& [thread, name] : names) {
    name = name_of_running_thread(thread);
  }
  std::erase_if(names, [](const auto& entry) { return entry.second.empty(); });
  record::rename_threads(names);
}

}  // namespace

void install_thread_namer() noexcept { record::set_thread_namer(name_this_thread); }

void note_first_frame(InterpreterFrame* frame) noexcept { t_first_frame = frame; }

void update_thread_names() noexcept {
  const ErrorGuard guard;
  try {
    rename_running_threads();
  } catch (const std::bad_alloc&) {
    return;  // the names they began with will do
  }
}

}  // namespace timeloom::python
