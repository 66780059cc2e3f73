// OMPT's way in: a runtime of OpenMP looks for the function ompt_start_tool() in the process, when
// the program first uses it.
#include "preload/openmp/ompt_runtimes.hpp"

#include <dlfcn.h>
#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "preload/common/library_name.hpp"
#include "preload/common/loaded_symbols.hpp"
#include "preload/openmp/ompt_events.hpp"
#include "preload/openmp/ompt_interface.hpp"
#include "record/created_threads.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::ompt {
namespace {

constexpr char kStartTool[] = "ompt_start_tool";
constexpr char kOwnLibrary[] = "libtimeloom_wrap_openmp.so";

constinit std::atomic_flag g_said = ATOMIC_FLAG_INIT;
constinit std::atomic<bool> g_asked = false;  // a runtime has asked for our tool
constinit std::atomic<int> g_process = 0;     // that is measured

Dl_info library_around(const void* address) noexcept {
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0) info = {};
  return info;
}

int initialize(Lookup* lookup, int, Data*) {
  auto* const set = reinterpret_cast<SetCallback*>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  register_events(set);
  return 1;
}

// The runtime ends, perhaps after the measurement.
void finalize(Data*) {}

// Printed once in a process that is measured.
void note_other_tool(const char* reason, const char* which) noexcept {
  if (!record::wrapping() || g_said.test_and_set()) return;
  std::fprintf(stderr, "timeloom: OpenMP is not recorded: %s%s [TL059]\n", reason, which);
}

// Runtimes read the variable when the program first uses OpenMP, which may have set it itself. They
// offer nothing to tools with a value that they do not know, either. nullptr: it is on.
const char* value_that_turns_tools_off() noexcept {
  const char* const tool = ::secure_getenv("OMP_TOOL");
  if (tool == nullptr || *tool == '\0' || ::strcasecmp(tool, "enabled") == 0) return nullptr;
  return tool;
}

// The file with the function that runtimes find in the place of ours; nullptr: they find ours.
const char* file_with_other_tool() noexcept {
  void* const found = ::dlsym(RTLD_DEFAULT, kStartTool);
  if (found == nullptr || record::is_own_code(found)) return nullptr;
  return library_around(found).dli_fname;
}

// At the end: no runtime has asked, though one is there. Nothing is read before, since a program
// may load it at any time.
void note_unasked() noexcept {
  if (g_asked || g_process != ::getpid()) return;
  const char* const off = value_that_turns_tools_off();
  const char* const other = off != nullptr ? nullptr : file_with_other_tool();
  if (off == nullptr && other == nullptr) return;
  if (!preload::LoadedLibrary::that_defines("__kmpc_fork_call")) return;
  if (off == nullptr) return note_other_tool("the program has a tool of its own, ", other);
  if (!record::wrapping() || g_said.test_and_set()) return;
  std::fprintf(stderr,
               "timeloom: OpenMP of LLVM's and Intel's runtimes is not recorded: OMP_TOOL=%s turns "
               "their interface for tools off; unset it [TL483]\n",
               off);
}

void on_switch(bool on) noexcept { on ? void(g_process = ::getpid()) : note_unasked(); }

[[gnu::constructor]] void watch_switch() noexcept { record::on_switch_of_wrapping(on_switch); }

// The user's choice of a tool comes before ours.
bool user_wants_other() noexcept {
  const char* const libraries = ::secure_getenv("OMP_TOOL_LIBRARIES");
  if (libraries == nullptr || *libraries == '\0') return false;
  if (std::string_view(libraries).ends_with(kOwnLibrary)) return false;
  note_other_tool("OMP_TOOL_LIBRARIES names another tool, ", libraries);
  return true;
}

using StartTool = StartToolResult*(unsigned, const char*);

// A library of the program may have a tool, which comes behind us in the search. Runtimes define
// the function, too, for programs without one. nullptr: there is no other tool.
StartToolResult* other_tool(unsigned version, const char* runtime) noexcept {
  void* const next = ::dlsym(RTLD_NEXT, kStartTool);
  if (next == nullptr) return nullptr;
  const auto library = preload::LoadedLibrary::around(next);
  if (!library || library.find("__kmpc_fork_call") != nullptr) return nullptr;
  StartToolResult* const result = reinterpret_cast<StartTool*>(next)(version, runtime);
  const char* const file = library_around(next).dli_fname;
  if (result != nullptr) {
    note_other_tool("the program has a tool of its own, ", file == nullptr ? "?" : file);
  }
  return result;
}

}  // namespace

void name_this_thread(const void* inside) noexcept try {
  const char* const file = library_around(inside).dli_fname;
  const std::string library = file == nullptr ? "OpenMP" : preload::short_name(file);
  record::attach_as(record::next_thread_name(library));
} catch (const std::bad_alloc&) {
  return;  // the thread takes part without this name
}

}  // namespace timeloom::ompt

using namespace timeloom::ompt;

// Called by a runtime of OpenMP.
extern "C" [[gnu::visibility("default")]] StartToolResult* ompt_start_tool(unsigned version,
                                                                           const char* runtime) {
  g_asked = true;
  if (user_wants_other()) return nullptr;
  if (StartToolResult* const other = other_tool(version, runtime)) return other;
  // Each runtime keeps the address of its own for as long as the process lives.
  return new (std::nothrow) StartToolResult{initialize, finalize, {}};
}
