#include "python/observe/hooks/unseen_calls.hpp"

#include <atomic>
#include <new>
#include <vector>

#include "core/samples/estimated_time.hpp"
#include "python/observe/cost/instrumenter_pause.hpp"
#include "python/observe/hooks/frame_walk.hpp"
#include "python/observe/hooks/unobserved.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/regions_around.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {
namespace {

using record::OpenRegion;

constinit std::atomic<bool> g_met_unknown = false;

std::uint32_t region_of(const OpenRegion& open) noexcept {
  return static_cast<std::uint32_t>(payload_of(open.enter));
}

// Whether the region is known, or was decided not to be recorded.
bool is_decided(PyCodeObject* code) noexcept {
  const std::uint64_t kept = kept_word(code);
  return word_in(kept) != 0 && (!is_region(word_in(kept)) || kept >= ready_from());
}

bool is_other_region(const OpenRegion& open) noexcept {
  return open.token != 0 && !record::is_function(open.token);
}

// Puts the regions of the recorder's stack and the functions of frames in one order.
class Stack {
 public:
  explicit Stack(std::span<std::uint32_t> regions) noexcept
      : regions_(regions), open_(record::t_recorder->innermost_entry()) {}

  // The token of the innermost function that is recorded; 0: none.
  record::Token next_token() const noexcept { return record::bare_token(next_function()->token); }

  // Recorded regions that are not functions, and lie inside of all.
  void put_inner_regions() noexcept {
    const OpenRegion* end = open_;
    for (const OpenRegion* one = open_; is_other_region(*one); --one) {
      if (record::is_recorded_entry(*one) && !is_region_around(region_of(*one))) end = one - 1;
    }
    put_until(end);
  }
  // The innermost recorded function, with the regions that are open in it.
  void put_function() noexcept { put_until(next_function() - 1); }
  // False: no room is left.
  bool put_frame(InterpreterFrame* frame) noexcept {
    PyCodeObject* const code = code_of(frame);
    if (is_called_by_c(frame) && next_token() == token_of(code)) {
      put_function();
    } else {
      put_unseen(code);
    }
    return found_ < regions_.size();
  }
  // The regions for which there were no frames.
  void put_rest() noexcept {
    const OpenRegion* end = open_;
    while (end->token != 0) --end;
    put_until(end);
  }

  // 0: all functions are recorded.
  std::size_t size() const noexcept { return has_unseen_ ? found_ : 0; }

 private:
  const OpenRegion* next_function() const noexcept {
    const OpenRegion* one = open_;
    while (is_other_region(*one)) --one;
    return one;
  }
  void put_until(const OpenRegion* end) noexcept {
    for (; open_ != end; --open_) {
      if (record::is_recorded_entry(*open_)) put(region_of(*open_));
    }
  }
  void put_unseen(PyCodeObject* code) noexcept {
    const std::uint32_t region = recorded_region(code);
    if (region != UINT32_MAX) {
      put(region | kUnrecordedFrame);
      has_unseen_ = true;
    } else if (!is_decided(code)) {
      g_met_unknown.store(true, std::memory_order_relaxed);
    }
  }
  void put(std::uint32_t region) noexcept {
    if (found_ < regions_.size()) regions_[found_++] = region;
  }

  std::span<std::uint32_t> regions_;
  std::size_t found_ = 0;
  const OpenRegion* open_;  // the next one; the last has the token 0
  bool has_unseen_ = false;
};

// Whether a frame runs that function. It may be in the making, or gone, while its region is open:
// the hook records more than the call.
bool has_frame(record::Token function) noexcept {
  bool found = false;
  each_frame([&](InterpreterFrame* frame) noexcept {
    found = is_called_by_c(frame) && token_of(code_of(frame)) == function;
    return !found;
  });
  return found;
}

struct OpenFunction {
  Ref code, globals;
};

// Nothing here makes an object of Python, so no other thread runs.
std::vector<OpenFunction> undecided_functions() {
  std::vector<OpenFunction> functions;
  PyThreadState* thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; thread != nullptr; thread = PyThreadState_Next(thread)) {
    InterpreterFrame* frame = current_frame(thread);
    for (; frame != nullptr; frame = outer_frame_of(frame)) {
      if (is_decided(code_of(frame))) continue;
      functions.push_back({Ref::borrow(reinterpret_cast<PyObject*>(code_of(frame))),
                           Ref::borrow(globals_of(frame))});
    }
  }
  return functions;
}

}  // namespace

std::size_t walk_unseen(std::span<std::uint32_t> regions, std::uint32_t) noexcept {
  if (!was_paused()) return 0;
  Stack stack(regions);
  stack.put_inner_regions();
  const record::Token function = stack.next_token();
  if (!is_paused() && function != 0 && !has_frame(function)) stack.put_function();
  each_frame([&](InterpreterFrame* frame) noexcept { return stack.put_frame(frame); });
  stack.put_rest();
  return stack.size();
}

bool met_unknown_function() noexcept { return g_met_unknown.load(std::memory_order_relaxed); }

void define_open_functions() noexcept try {
  g_met_unknown.store(false, std::memory_order_relaxed);
  const ErrorGuard guard;
  const Unobserved nothing_of_this;
  for (const OpenFunction& one : undecided_functions()) {
    define_code_elsewhere(one.code.code(), one.globals.get());
  }
} catch (const std::bad_alloc&) {
  return;  // their time stays with their callers
}

}  // namespace timeloom::python
