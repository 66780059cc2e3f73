#include "python/observe/interpreters/sub_regions.hpp"

#include <exception>
#include <string>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/free_threading.hpp"
#include "python/observe/hooks/event_code.hpp"
#include "python/observe/interpreters/sub_interpreters.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "record/measurement.hpp"
#include "record/native/native_call.hpp"

namespace timeloom::python {
namespace {

// Whether no other function of the interpreter is open below the one that runs: it was called from
// outside of the interpreter, or is the first of a thread.
bool runs_outermost() noexcept {
  InterpreterFrame* const frame = current_frame(PyThreadState_Get());
  return frame != nullptr && outer_frame_of(frame) == nullptr;
}

// True: the region of the code object has been defined, and can be entered. `outermost`: as in
// runs_outermost().
bool prepare(SubInterpreter& sub, PyCodeObject* code, bool outermost) noexcept {
  const CriticalSection critical;
  EventWord word = word_in(load_code_extra(code, sub.index));
  if (word == 0) word = decide_in_sub_interpreter(code, globals_of_event(code), sub.index);
  // Its places have to be seen as long as it may be outermost.
  if (word == kExcluded || word == kExcludedFile) {
    if (outermost) store_code_extra(code, sub.index, kOwn);
    return false;
  }
  return is_region(word) && store_code_extra(code, sub.index, define_for_measurement(word));
}

// The same for the region of the interpreter.
bool prepare(SubInterpreter& sub) noexcept try {
  const std::int64_t id = PyInterpreterState_GetID(PyInterpreterState_Get());
  Region region;
  region.name = region.canonical_name = "interpreter " + std::to_string(id);
  region.paradigm = Paradigm::kOther;
  region.role = RegionRole::kCode;
  sub.region = define_for_measurement(record::enter_word(record::region_id(region)));
  return true;
} catch (const std::exception&) {
  return false;  // no memory
}

enum class Entered : std::uint8_t { kYes, kNothingMeasured, kUndefined, kUndefinedInterpreter };

// `code`: nullptr: the region of the interpreter alone.
Entered enter_if_defined(SubInterpreter& sub, PyCodeObject* code, bool outermost) noexcept {
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (recorder == nullptr || !record::recording()) return Entered::kNothingMeasured;
  // Neither changes during the call.
  const std::uint64_t number = record::measurement_number();
  EventWord word = 0, of_interpreter = 0;
  if (code != nullptr) {
    word = word_of_measurement(load_code_extra(code, sub.index), number);
    if (word == 0) return Entered::kUndefined;
  }
  if (outermost) {
    of_interpreter = word_of_measurement(sub.region, number);
    if (of_interpreter == 0) return Entered::kUndefinedInterpreter;
    recorder->enter(token_of(sub), of_interpreter);
  }
  if (code != nullptr) recorder->enter(token_of(code), word);
  return Entered::kYes;
}

// False: its region could not be made, since there is no memory.
bool enter_whole(SubInterpreter& sub, PyCodeObject* code, bool outermost) noexcept {
  while (true) {
    switch (enter_if_defined(sub, code, outermost)) {
      case Entered::kUndefined:
        if (!prepare(sub, code, outermost)) return false;
        break;
      case Entered::kUndefinedInterpreter:
        if (!prepare(sub)) outermost = false;
        break;
      case Entered::kYes:
      case Entered::kNothingMeasured: return true;
    }
  }
}

SubEvent of_excluded(const SubInterpreter& sub, PyCodeObject* code) noexcept {
  const EventWord word = word_in(load_code_extra(code, sub.index));
  const bool for_good = word == kExcluded || word == kExcludedFile;
  return for_good && sub_interpreters_admitted() == SubInterpreters::kFixed ? SubEvent::kNotAgain
                                                                            : SubEvent::kSeen;
}

}  // namespace

EventWord word_of_measurement(std::uint64_t kept, std::uint64_t number) noexcept {
  const EventWord word = word_in(kept);
  return kept >> kTimeShift == number && is_region(word) ? word : 0;
}

std::uint64_t define_for_measurement(EventWord word) noexcept {
  const std::uint64_t number = record::measurement_number();
  record::define(RegionId{payload_of(word)});
  return number << kTimeShift | word;
}

SubEvent enter_in_sub_interpreter(SubInterpreter& sub, PyCodeObject* code) noexcept {
  const bool outermost = runs_outermost();
  if (enter_whole(sub, code, outermost)) return SubEvent::kSeen;
  if (outermost) (void)enter_whole(sub, nullptr, true);
  return of_excluded(sub, code);
}

SubEvent leave_in_sub_interpreter(SubInterpreter& sub, PyCodeObject* code) noexcept {
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (recorder == nullptr || !record::recording()) return SubEvent::kSeen;
  bool left = recorder->leave_last(token_of(code));
  if (!left && is_recorded(word_in(load_code_extra(code, sub.index)))) {
    left = recorder->leave_outer(token_of(code));
  }
  if (recorder->innermost() == token_of(sub) && runs_outermost()) {
    (void)recorder->leave_last(token_of(sub));
  }
  return left ? SubEvent::kSeen : of_excluded(sub, code);
}

void visit_generator(SubInterpreter& sub, PyObject* generator) noexcept {
  PyCodeObject* const code = code_of_generator(generator);
  if (word_in(load_code_extra(code, sub.index)) == 0) {  // the rules have changed since it began
    const CriticalSection critical;
    decide_in_sub_interpreter(code, globals_of(frame_of_generator(generator)), sub.index);
  }
  // The calls that are open are the closer's; without one the interpreter is entered, too.
  const bool outermost = current_frame(PyThreadState_Get()) == nullptr;
  if (!enter_whole(sub, code, outermost)) return;
  const record::NativeCall call;
  record::ThreadRecorder* const recorder = call.recorder();
  if (recorder == nullptr || !record::recording()) return;
  (void)recorder->leave_last(token_of(code));
  if (outermost) (void)recorder->leave_last(token_of(sub));
}

void enter_sub_interpreter(SubInterpreter& sub) noexcept { (void)enter_whole(sub, nullptr, true); }

}  // namespace timeloom::python
