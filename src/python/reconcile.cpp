#include "python/reconcile.hpp"

#include <algorithm>
#include <vector>

#include "python/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

// What runs on a thread, outermost first, without what is excluded.
std::vector<record::Token> running_codes(PyThreadState* thread) {
  std::vector<record::Token> codes;
  for (Ref frame(PyThreadState_GetFrame(thread)); frame; frame = Ref(PyFrame_GetBack(frame.frame()))) {
    const Ref code(PyFrame_GetCode(frame.frame()));
    EventWord word = known_word(code.code());
    if (word == 0) {
      const Ref globals(PyFrame_GetGlobals(frame.frame()));
      word = decide_word(code.code(), globals.get());
    }
    if (is_region(word)) codes.push_back(token_of(code.code()));
  }
  std::reverse(codes.begin(), codes.end());
  return codes;
}

bool is_user_region(const record::OpenRegion& region) noexcept { return (region.token & 2) != 0; }

void reconcile(record::ThreadRecorder& recorder, const std::vector<record::Token>& codes) {
  auto running = codes.begin();
  std::size_t kept = 0;
  for (const record::OpenRegion& open : recorder.open_regions()) {
    if (open.token == record::kEndedUnseen) break;
    if (!is_user_region(open)) {
      const auto found = std::find(running, codes.end(), open.token & ~record::kUnrecorded);
      if (found == codes.end()) break;
      running = found + 1;
    }
    ++kept;
  }
  recorder.close_from(kept);
  for (; running != codes.end(); ++running) recorder.enter_unrecorded(*running);
}

void visit(record::ThreadRecorder& recorder, std::uintptr_t thread_id, void*) {
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) {
    if (thread->thread_id == thread_id) reconcile(recorder, running_codes(thread));
  }
}

}  // namespace

void reconcile_all_threads() noexcept {
  const ErrorGuard guard;
  try {
    record::for_each_recorder(visit, nullptr);
  } catch (const std::bad_alloc&) {
    return;  // what is open is closed later, by an outer leave
  }
}

}  // namespace timeloom::python
