#include "python/observe/hooks/reconcile.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <new>
#include <vector>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/watched.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

using Codes = std::vector<record::Token>;
using CodesOfThreads = std::map<std::uintptr_t, Codes>;  // by pthread id

// The functions that run on this thread, outermost first, without the excluded ones.
Codes running_codes(PyFrameObject* without) {
  Codes codes;
  for (Ref frame(PyThreadState_GetFrame(PyThreadState_Get())); frame;
       frame = Ref(PyFrame_GetBack(frame.frame()))) {
    if (frame.frame() == without) continue;
    const Ref code(PyFrame_GetCode(frame.frame()));
    EventWord word = known_word(code.code());
    if (word == 0) {
      const Ref globals(PyFrame_GetGlobals(frame.frame()));
      word = decide_word(code.code(), globals.get());
    }
    if (is_recorded(word)) codes.push_back(token_of(code.code()));
  }
  std::reverse(codes.begin(), codes.end());
  return codes;
}

// The same of another thread while it does not run: without objects, which would be
// made now, and without functions that have not been seen yet, which have no enter to be closed.
Codes known_codes(PyThreadState* thread) {
  Codes codes;
  for (InterpreterFrame* frame = current_frame(thread); frame != nullptr;
       frame = outer_frame_of(frame)) {
    PyCodeObject* code = code_of(frame);
    if (is_recorded(known_word(code))) codes.push_back(token_of(code));
  }
  std::reverse(codes.begin(), codes.end());
  return codes;
}

// Without being recorded. Functions that hide their calls go on to hide them.
void enter_unseen(record::ThreadRecorder& recorder, record::Token token) noexcept {
  auto* const code = reinterpret_cast<PyCodeObject*>(token);
  if (word_of_open_call(code, known_word(code)) == record::kHidesCalls) {
    recorder.enter_hiding(token);
  } else {
    recorder.enter_unrecorded(token);
  }
}

void reconcile(record::ThreadRecorder& recorder, const Codes& codes) {
  auto running = codes.begin();
  std::size_t kept = 0;
  for (const record::OpenRegion& open : recorder.open_regions()) {
    if (open.token == record::kEndedUnseen) break;
    if (!record::is_user_region(open.token)) {
      const auto found = std::find(running, codes.end(), record::bare_token(open.token));
      if (found == codes.end()) break;
      running = found + 1;
    }
    ++kept;
  }
  recorder.close_from(kept);
  for (; running != codes.end(); ++running) enter_unseen(recorder, *running);
}

// A thread without any Python code runs nothing.
void visit(record::ThreadRecorder& recorder, std::uintptr_t thread, void* codes_of_threads) {
  static const Codes kNone;
  const auto& known = *static_cast<const CodesOfThreads*>(codes_of_threads);
  const auto codes = known.find(thread);
  reconcile(recorder, codes == known.end() ? kNone : codes->second);
}

void close_ended(record::ThreadRecorder& recorder, std::uintptr_t, void*) {
  const auto open = recorder.open_regions();
  const auto ended = std::find_if(open.begin(), open.end(), [](const record::OpenRegion& region) {
    return region.token == record::kEndedUnseen;
  });
  recorder.close_from(static_cast<std::size_t>(ended - open.begin()));
}

// Without memory, open regions are closed later, by an outer leave.
void reconcile_all(Codes own) noexcept try {
  CodesOfThreads codes;
  PyThreadState* const here = PyThreadState_Get();
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) {
    if (thread != here) codes[thread->thread_id] = known_codes(thread);
  }
  codes[here->thread_id] = std::move(own);
  record::for_each_recorder(visit, &codes);
} catch (const std::bad_alloc&) {
}

}  // namespace

void reconcile_all_threads() noexcept {
  const ErrorGuard guard;
  try {
    Codes own = running_codes(nullptr);
    with_world_stopped([&] { reconcile_all(std::move(own)); });
  } catch (const std::bad_alloc&) {
    return;
  }
}

void reconcile_this_thread(PyFrameObject* innermost) noexcept {
  if (!record::t_recorder->attached()) return;
  const ErrorGuard guard;
  try {
    reconcile(*record::t_recorder, running_codes(innermost));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void close_ended_regions() noexcept {
  with_world_stopped([] { record::for_each_recorder(close_ended, nullptr); });
}

}  // namespace timeloom::python
