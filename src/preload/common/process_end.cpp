// Part of each wrapper library: endings of a process at which no code runs that could end the
// measurement. They are noted in its spool, as the endings of Python programs are.
#include <stdlib.h>
#include <unistd.h>

#include <cstdarg>
#include <cstddef>

#include "preload/common/next_function.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::preload {
namespace {

using Arguments = char* const*;

constinit Next<void(int)> next__exit{"_exit"}, next__Exit{"_Exit"}, next_quick_exit{"quick_exit"};
constinit Next<int(const char*, Arguments)> next_execv{"execv"}, next_execvp{"execvp"};
constinit Next<int(const char*, Arguments, Arguments)> next_execve{"execve"},
    next_execvpe{"execvpe"};
constinit Next<int(int, Arguments, Arguments)> next_fexecve{"fexecve"};

// Avoids system calls where possible: the program may have forbidden itself all others.
void note(Ending ending) noexcept {
  if (!record::in_child_of_vfork()) record::note_own_ending(ending);
}

void note_exit(EndingKind kind, int status) noexcept {
  note({kind, static_cast<std::uint32_t>(status) & 0xff});
}

// Returns only when the program could not be replaced.
template <typename Call>
int replace(Call call) {
  note({EndingKind::kExec, 0});
  const int result = call();
  note({});
  return result;
}

// Counts the words of execl() and similar functions, including the null pointer at the end.
std::size_t count_words(const char* first, va_list values) noexcept {
  std::size_t count = 1;
  for (const char* word = first; word != nullptr; word = va_arg(values, const char*)) ++count;
  return count;
}

// `values` stands behind them afterwards.
void take_words(char** words, std::size_t count, const char* first, va_list* values) noexcept {
  words[0] = const_cast<char*>(first);
  for (std::size_t i = 1; i < count; ++i) words[i] = va_arg(*values, char*);
}

}  // namespace
}  // namespace timeloom::preload

using namespace timeloom::preload;

TIMELOOM_WRAPPER(void, _exit, int status) {
  note_exit(timeloom::EndingKind::kCExit, status);
  next__exit(status);
}
TIMELOOM_WRAPPER(void, _Exit, int status) {
  note_exit(timeloom::EndingKind::kCExit, status);
  next__Exit(status);
}

// Functions registered with at_quick_exit() are still called.
TIMELOOM_WRAPPER(void, quick_exit, int status) {
  note_exit(timeloom::EndingKind::kQuickExit, status);
  next_quick_exit(status);
}

TIMELOOM_WRAPPER(int, execv, const char* program, Arguments words) {
  return replace([=] { return next_execv(program, words); });
}
TIMELOOM_WRAPPER(int, execvp, const char* program, Arguments words) {
  return replace([=] { return next_execvp(program, words); });
}
TIMELOOM_WRAPPER(int, execve, const char* program, Arguments words, Arguments environment) {
  return replace([=] { return next_execve(program, words, environment); });
}
TIMELOOM_WRAPPER(int, execvpe, const char* program, Arguments words, Arguments environment) {
  return replace([=] { return next_execvpe(program, words, environment); });
}
TIMELOOM_WRAPPER(int, fexecve, int program, Arguments words, Arguments environment) {
  return replace([=] { return next_fexecve(program, words, environment); });
}

// The words are on the stack, because a child of vfork() shares its parent's memory.
#define EXECL(name, result)                                                            \
  TIMELOOM_WRAPPER(int, name, const char* program, const char* first, ...) {           \
    va_list values;                                                                    \
    va_start(values, first);                                                           \
    const std::size_t count = count_words(first, values);                              \
    va_end(values);                                                                    \
    auto** const words = static_cast<char**>(__builtin_alloca(count * sizeof(char*))); \
    va_start(values, first);                                                           \
    take_words(words, count, first, &values);                                          \
    const int status = result;                                                         \
    va_end(values);                                                                    \
    return status;                                                                     \
  }
EXECL(execl, replace([=] { return next_execv(program, words); }))
EXECL(execlp, replace([=] { return next_execvp(program, words); }))
EXECL(execle, replace([=, environment = va_arg(values, Arguments)] {
        return next_execve(program, words, environment);
      }))
