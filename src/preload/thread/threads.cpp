// The wrappers of functions that create threads, end them and wait for them.
//
// Functions that call the wrapped function are not noexcept: a thread may be cancelled in it, or
// end, which unwinds its stack.
#include <pthread.h>
#include <time.h>

#include <cerrno>
#include <memory>
#include <new>
#include <string>

#include "preload/common/next_function.hpp"
#include "preload/common/wrapped_call.hpp"
#include "preload/thread/created.hpp"
#include "preload/thread/functions.hpp"
#include "record/created_threads.hpp"
#include "record/measurement.hpp"

namespace timeloom::preload {
namespace {

using enum ThreadFunction;
using record::WrappedFunction;
using record::wrapping;

// Data that the creating thread passes to the new one.
struct Beginning {
  StartRoutine* routine;
  void* argument;
  std::uint64_t number;
  std::uint32_t measurement;
  bool waited_for;  // it may be
  std::string name;
};

// Records the start of the thread. The thread's recorder records its end.
void note_begin(const Beginning& beginning) noexcept {
  if (beginning.waited_for) remember_thread(pthread_self(), beginning.number);
  if (beginning.measurement != record::measurement_number()) return;
  record::begin_created_thread(beginning.name, beginning.number);
}

void* begin_thread(void* data) {
  auto* const beginning = static_cast<Beginning*>(data);
  note_begin(*beginning);
  StartRoutine* const routine = beginning->routine;
  void* const argument = beginning->argument;
  delete beginning;
  return routine(argument);
}

bool may_be_waited_for(const pthread_attr_t* attributes) noexcept {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) (void)pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_JOINABLE;
}

// nullptr: Timeloom does not name the thread, or there is no memory.
std::unique_ptr<Beginning> beginning_of(const pthread_attr_t* attributes, StartRoutine* routine,
                                        void* argument) noexcept try {
  if (is_of_python(routine)) return nullptr;
  return std::make_unique<Beginning>(
      Beginning{routine, argument, record::next_creation_number(), record::measurement_number(),
                may_be_waited_for(attributes), name_of_new_thread(routine, argument)});
} catch (const std::bad_alloc&) {
  return nullptr;
}

constinit Next<int(pthread_t*, const pthread_attr_t*, StartRoutine*, void*)> next_pthread_create{
    "pthread_create"};
constinit Next<int(pthread_t, void**)> next_pthread_join{"pthread_join"},
    next_pthread_tryjoin_np{"pthread_tryjoin_np"};
constinit Next<int(pthread_t, void**, const timespec*)> next_pthread_timedjoin_np{
    "pthread_timedjoin_np"};
constinit Next<int(pthread_t, void**, clockid_t, const timespec*)> next_pthread_clockjoin_np{
    "pthread_clockjoin_np", [](pthread_t, void**, clockid_t, const timespec*) { return ENOSYS; }};
constinit Next<void(void*)> next_pthread_exit{"pthread_exit"};
constinit Next<int(pthread_t)> next_pthread_cancel{"pthread_cancel"},
    next_pthread_detach{"pthread_detach"};

int create(pthread_t* thread, const pthread_attr_t* attributes, StartRoutine* routine,
           void* argument, const void* caller) {
  WrappedFunction& function = function_of(kCreate);
  const std::uint32_t begun = begin_call(function, caller);
  if (begun == 0) {
    return next_pthread_create(thread, attributes, routine, argument);
  }
  std::unique_ptr<Beginning> beginning = beginning_of(attributes, routine, argument);
  int result = 0;
  if (beginning == nullptr) {
    result = next_pthread_create(thread, attributes, routine, argument);
  } else {
    record::WrapperScope(record::kAgain, begun).put(ExtendedKind::kCreate, {beginning->number});
    result = next_pthread_create(thread, attributes, begin_thread, beginning.get());
    if (result == 0) (void)beginning.release();  // the new thread owns it now
  }
  end_call(function);
  return result;
}

template <typename Call>
int join_by(pthread_t thread, const void* caller, Call call) {
  WrappedFunction& function = function_of(kJoin);
  const std::uint32_t begun = begin_call(function, caller);
  // Called before the thread has ended; afterwards another thread may have its id.
  std::uint64_t number = take_thread(thread);
  const int result = call();
  if (result != 0 && number != 0) remember_thread(thread, number);
  if (result == 0 && number == 0) number = take_thread(thread);  // it had not started yet
  if (begun == 0) return result;
  if (result == 0 && number != 0) {
    record::WrapperScope(record::kAgain, begun).put(ExtendedKind::kWait, {number});
  }
  end_call(function);
  return result;
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom;
using namespace timeloom::preload;

TIMELOOM_WRAPPER(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes,
                 StartRoutine* routine, void* argument) {
  return wrapping() ? create(thread, attributes, routine, argument, CALLER)
                    : next_pthread_create(thread, attributes, routine, argument);
}

TIMELOOM_WRAPPER(int, pthread_join, pthread_t thread, void** result) {
  const auto call = [=] { return next_pthread_join(thread, result); };
  return wrapping() ? join_by(thread, CALLER, call) : call();
}
TIMELOOM_WRAPPER(int, pthread_tryjoin_np, pthread_t thread, void** result) {
  const auto call = [=] { return next_pthread_tryjoin_np(thread, result); };
  return wrapping() ? join_by(thread, CALLER, call) : call();
}
TIMELOOM_WRAPPER(int, pthread_timedjoin_np, pthread_t thread, void** result, const timespec* end) {
  const auto call = [=] { return next_pthread_timedjoin_np(thread, result, end); };
  return wrapping() ? join_by(thread, CALLER, call) : call();
}
TIMELOOM_WRAPPER(int, pthread_clockjoin_np, pthread_t thread, void** result, clockid_t clock,
                 const timespec* end) {
  const auto call = [=] { return next_pthread_clockjoin_np(thread, result, clock, end); };
  return wrapping() ? join_by(thread, CALLER, call) : call();
}

// Its region ends with the thread.
TIMELOOM_WRAPPER(void, pthread_exit, void* result) {
  if (wrapping()) (void)begin_call(function_of(kExit), CALLER);
  next_pthread_exit(result);
  __builtin_unreachable();
}

TIMELOOM_WRAPPER(int, pthread_cancel, pthread_t thread) {
  const bool recorded = wrapping() && begin_call(function_of(kCancel), CALLER) != 0;
  const int result = next_pthread_cancel(thread);
  if (recorded) end_call(function_of(kCancel));
  return result;
}

TIMELOOM_WRAPPER(int, pthread_detach, pthread_t thread) {
  const bool recorded = wrapping() && begin_call(function_of(kDetach), CALLER) != 0;
  if (wrapping()) (void)take_thread(thread);
  const int result = next_pthread_detach(thread);
  if (recorded) end_call(function_of(kDetach));
  return result;
}
