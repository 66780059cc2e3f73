#include "python/observe/hooks/open_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/threads/thread_names.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// Decides for the code of all calls outside of this one, and defines their regions.
void decide_open_call(Ref frame) {
  for (; frame; frame = Ref(PyFrame_GetBack(frame.frame()))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    EventWord word = known_word(code.code());
    if (word == 0) {
      const Ref globals(PyFrame_GetGlobals(frame.frame()));
      word = decide_word(code.code(), globals.get());
    }
    word = word_of_open_call(code.code(), word);
    if (is_region(word)) record::define(RegionId{payload_of(word)});
  }
}

// Calls visit(id, frame) for the innermost frame of each thread, without an exception before or
// after.
template <typename Visit>
void visit_threads(const Visit& visit) {
  PyObject* const function = PySys_GetObject("_current_frames");  // borrowed
  const Ref frames(function == nullptr ? nullptr : PyObject_CallNoArgs(function));
  PyErr_Clear();
  if (!frames || !PyDict_Check(frames.get())) return;
  PyObject *thread = nullptr, *frame = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(frames.get(), &position, &thread, &frame)) {
    visit(PyLong_AsUnsignedLong(thread), Ref::borrow(frame));
  }
  PyErr_Clear();
}

void decide_for_others() {
  visit_threads([](unsigned long thread, Ref frame) {
    if (thread != PyThread_get_thread_ident()) decide_open_call(std::move(frame));
  });
}

void define_code_of(Ref frame) {
  for (; frame; frame = Ref(PyFrame_GetBack(frame.frame()))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    const Ref globals(PyFrame_GetGlobals(frame.frame()));
    define_code(code.code(), globals.get());
  }
}

// Without the code that has come since it was decided, and without calls that will be reported.
void enter_on(record::ThreadRecorder& recorder, InterpreterFrame* frame) {
  std::vector<PyCodeObject*> codes;
  for (; frame != nullptr; frame = outer_frame_of(frame)) {
    if (!begin_is_reported_later(frame)) codes.push_back(code_of(frame));
  }
  for (auto code = codes.rbegin(); code != codes.rend(); ++code) {
    const EventWord word = word_of_open_call(*code, known_word(*code));
    if (word == record::kHidesCalls) recorder.enter_hiding(token_of(*code));
    if (is_region(word)) recorder.enter(token_of(*code), word);
  }
}

using OpenCallNames = std::map<std::uintptr_t, std::string>;  // by pthread id

OpenCallNames names_of_threads() {
  OpenCallNames names;
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) {
    names[thread->thread_id] = name_of_running_thread(thread->thread_id);
  }
  return names;
}

// Brings in all threads but the calling one that have frames. `enter`: with their calls.
void bring_in_others(const OpenCallNames& names, bool enter) noexcept try {
  PyThreadState* const here = PyThreadState_Get();
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) {
    InterpreterFrame* const frame = current_frame(thread);
    if (thread == here || frame == nullptr) continue;
    const auto name = names.find(thread->thread_id);
    record::ThreadRecorder* const recorder =
        record::bring_in({thread->thread_id, thread->native_thread_id,
                          name == names.end() ? std::string() : name->second});
    if (recorder != nullptr && enter) enter_on(*recorder, frame);
  }
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace

void enter_open_calls(PyFrameObject* innermost) noexcept {
  const ErrorGuard guard;
  try {
    {
      const Unobserved nothing_of_this;
      decide_for_others();
      decide_open_call(Ref::borrow(reinterpret_cast<PyObject*>(innermost)));
      const OpenCallNames names = names_of_threads();
      with_world_stopped([&] { bring_in_others(names, true); });
    }
    if (innermost == nullptr || !record::t_recorder->attached()) return;
    enter_on(*record::t_recorder, interpreter_frame_of(innermost));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void define_open_code(PyFrameObject* innermost) noexcept {
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  visit_threads([&](unsigned long thread, Ref frame) {
    const bool here = innermost != nullptr && thread == PyThread_get_thread_ident();
    if (here) frame = Ref::borrow(reinterpret_cast<PyObject*>(innermost));
    define_code_of(std::move(frame));
  });
}

void bring_in_running_threads() noexcept try {
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  const OpenCallNames names = names_of_threads();
  with_world_stopped([&] { bring_in_others(names, false); });
} catch (const std::bad_alloc&) {
  return;  // they are sampled from their first event on
}

}  // namespace timeloom::python
