// Calls the library that KOKKOS_TOOLS_LIBS names as Kokkos does: a program, and a function for a
// Python program.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <thread>
#include <typeinfo>

namespace solver {
struct Axpy {};
struct Tag {};
}  // namespace solver

namespace {

struct Space {
  char name[64] = {};
  explicit Space(const char* text) { std::strncpy(name, text, sizeof name); }
};

void* g_tool = nullptr;

template <typename Function>
Function* tool(const char* name) {
  void* const found = dlsym(g_tool, name);
  if (found == nullptr) {
    std::fprintf(stderr, "no function %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

void load_tool() {
  const char* const library = std::getenv("KOKKOS_TOOLS_LIBS");
  if (library == nullptr) std::exit(2);
  g_tool = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (g_tool == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(3);
  }
  bool settings[256];
  std::memset(settings, 1, sizeof settings);
  tool<void(std::uint32_t, bool*)>("kokkosp_request_tool_settings")(1, settings);
  if (settings[0]) std::exit(4);
  tool<void(int, std::uint64_t, std::uint32_t, void*)>("kokkosp_init_library")(0, 20211015, 0,
                                                                               nullptr);
  tool<void(int, char**)>("kokkosp_parse_args")(0, nullptr);
}

template <typename Inside>
void kernel(const char* kind, const char* name, Inside inside) {
  std::uint64_t id = 12345;
  char function[64];
  std::snprintf(function, sizeof function, "kokkosp_begin_%s", kind);
  tool<void(const char*, std::uint32_t, std::uint64_t*)>(function)(name, 0, &id);
  inside();
  std::snprintf(function, sizeof function, "kokkosp_end_%s", kind);
  tool<void(std::uint64_t)>(function)(id);
}

void nothing() {}

void push(const char* name) { tool<void(const char*)>("kokkosp_push_profile_region")(name); }
void pop() { tool<void()>("kokkosp_pop_profile_region")(); }

void memory(const char* what, const Space& space, std::uint64_t bytes) {
  using Function = void(Space, const char*, const void*, std::uint64_t);
  tool<Function>(what)(space, "x", &g_tool, bytes);
}

void copy(const Space& target, const Space& source, std::uint64_t bytes) {
  using Function =
      void(Space, const char*, const void*, Space, const char*, const void*, std::uint64_t);
  tool<Function>("kokkosp_begin_deep_copy")(target, "y", nullptr, source, "x", nullptr, bytes);
  kernel("fence", "Kokkos::deep_copy: fence", nothing);
  tool<void()>("kokkosp_end_deep_copy")();
}

void sections() {
  std::uint32_t first = 0, second = 0;
  const auto create = tool<void(const char*, std::uint32_t*)>("kokkosp_create_profile_section");
  create("assemble", &first);
  create("factor", &second);
  tool<void(std::uint32_t)>("kokkosp_start_profile_section")(second);
  tool<void(std::uint32_t)>("kokkosp_stop_profile_section")(second);
  tool<void(std::uint32_t)>("kokkosp_start_profile_section")(first);
  tool<void(std::uint32_t)>("kokkosp_stop_profile_section")(first);
  tool<void(std::uint32_t)>("kokkosp_start_profile_section")(77);  // not created
  tool<void(std::uint32_t)>("kokkosp_stop_profile_section")(77);
  tool<void(std::uint32_t)>("kokkosp_destroy_profile_section")(first);
}

void solve() {
  const Space host("HostSpace"), device("Cuda");
  memory("kokkosp_allocate_data", host, 800);
  memory("kokkosp_allocate_data", device, 400);
  push("solve");
  kernel("parallel_for", "axpy", [] { kernel("parallel_reduce", "f", nothing); });
  kernel("parallel_scan", typeid(solver::Axpy).name(), nothing);
  char tagged[128];
  std::snprintf(tagged, sizeof tagged, "%s/%s", typeid(solver::Axpy).name(),
                typeid(solver::Tag).name());
  kernel("parallel_for", tagged, nothing);
  copy(device, host, 400);
  tool<void(const char*)>("kokkosp_profile_event")("half way");
  pop();
  pop();  // one too many
  sections();
  memory("kokkosp_deallocate_data", device, 400);
  memory("kokkosp_allocate_data", host, 200);
  memory("kokkosp_deallocate_data", host, 1000);
}

// Numbers of kernels that were not given out, or have ended, and an end that is missing.
void wrong_numbers() {
  const auto begin =
      tool<void(const char*, std::uint32_t, std::uint64_t*)>("kokkosp_begin_parallel_for");
  const auto end = tool<void(std::uint64_t)>("kokkosp_end_parallel_for");
  std::uint64_t outer = 0, inner = 0;
  begin("outer", 0, &outer);
  for (const std::uint64_t made_up : {std::uint64_t{1}, std::uint64_t{12345678}, ~outer, outer + 1,
                                      reinterpret_cast<std::uintptr_t>(&outer)}) {
    end(made_up);
  }
  begin("inner", 0, &inner);
  std::thread([&] { end(inner); }).join();
  end(outer);  // and the inner one with it
  end(inner);
  end(outer);
  begin("next", 0, nullptr);
  for (int i = 0; i < 3000; ++i) begin("never ended", 0, &inner);
  end(inner);
}

}  // namespace

extern "C" void run_kokkos() {
  load_tool();
  solve();
  tool<void()>("kokkosp_finalize_library")();
}

#ifndef AS_LIBRARY
int main(int argc, char** argv) {
  const bool on_threads = argc > 1 && std::strcmp(argv[1], "threads") == 0;
  if (argc > 1 && std::strcmp(argv[1], "help") == 0) {
    load_tool();
    tool<void(char*)>("kokkosp_print_help")(argv[0]);
  } else if (on_threads) {
    load_tool();
    std::thread other([] {
      push("other");
      kernel("parallel_for", "axpy", nothing);
      pop();
    });
    other.join();
    push("main");
    pop();
  } else if (argc > 1 && std::strcmp(argv[1], "wrong") == 0) {
    load_tool();
    wrong_numbers();
  } else if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
    load_tool();
    push("parent");
    if (fork() == 0) {
      kernel("parallel_for", "in the child", nothing);
      return 0;
    }
    pop();
  } else {
    run_kokkos();
  }
}
#endif
