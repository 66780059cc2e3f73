#include "python/launch/preload.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/mpi/spawned.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"
#include "settings/launched_rank.hpp"
#include "settings/openmp_runtime.hpp"

namespace timeloom::python {
namespace {

namespace fs = std::filesystem;

[[gnu::constructor]] void add_extension() noexcept {
  record::add_own_code(reinterpret_cast<const void*>(&add_extension));
}

std::string preload_variable() {
  const char* const value = std::getenv(kPreloadVariable);
  return value == nullptr ? std::string() : value;
}

// In the environment of the process and, where Python has read it already, in os.environ.
void set_variable(const std::string& value) {
  value.empty() ? ::unsetenv(kPreloadVariable) : ::setenv(kPreloadVariable, value.c_str(), 1);
  const bool has_os = PyDict_GetItemString(PyImport_GetModuleDict(), "os") != nullptr;
  const Ref module(PyImport_ImportModule(has_os ? "os" : "posix"));
  const Ref variables(module ? PyObject_GetAttrString(module.get(), "environ") : nullptr);
  const auto text = [&](const std::string& bytes) {
    return Ref(
        has_os ? object_of(bytes)
               : PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  };
  const Ref name = text(kPreloadVariable);
  if (variables && name && value.empty()) {
    if (PyMapping_HasKey(variables.get(), name.get())) {
      (void)PyObject_DelItem(variables.get(), name.get());
    }
  } else if (variables && name) {
    (void)PyObject_SetItem(variables.get(), name.get(), text(value).get());
  }
  PyErr_Clear();
}

void print_not_recorded(const Wrapper& wrapper, const std::string& why) {
  print_line(std::string(wrapper.what) + " not recorded: " + why);
}

// The words by which this Python was started; none: they are not known.
std::vector<std::string> own_words() {
  PyObject* const words = PySys_GetObject("orig_argv");  // borrowed
  return words == nullptr ? std::vector<std::string>() : words_of(words);
}

std::string own_program() {
  PyObject* const program = PySys_GetObject("executable");  // borrowed
  const std::string path =
      program != nullptr && PyUnicode_Check(program) ? bytes_of(program) : std::string();
  return path.empty() ? "/proc/self/exe" : path;
}

// Returns where the system does not start it again.
void begin_again(const std::string& preload) {
  std::vector<std::string> words = own_words();
  if (words.empty()) return;
  const std::string before = preload_variable();
  const char* const given = std::getenv(kSanitizerVariable);
  const std::optional<std::string> options_before =
      given == nullptr ? std::nullopt : std::optional<std::string>(given);
  ::setenv(kPreloadVariable, preload.c_str(), 1);
  if (::dlsym(RTLD_DEFAULT, "__asan_init") != nullptr) {
    const std::string options = with_any_link_order(options_before.value_or(""));
    ::setenv(kSanitizerVariable, options.c_str(), 1);
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(own_program().c_str(), arguments.data());
  before.empty() ? ::unsetenv(kPreloadVariable) : ::setenv(kPreloadVariable, before.c_str(), 1);
  options_before ? ::setenv(kSanitizerVariable, options_before->c_str(), 1)
                 : ::unsetenv(kSanitizerVariable);
}

// PyPI's packages have it in the environment of the interpreter. Children have the message of the
// first process.
void add_llvm_openmp(std::vector<std::string>& files) {
  const char* const version = Py_GetVersion();  // 3.13.1 (main, …
  std::string folder = "/python" + std::string(version, std::strcspn(version + 2, ". ") + 2);
#ifdef Py_GIL_DISABLED
  folder += 't';
#endif
  PyObject* const prefix = PySys_GetObject("prefix");  // borrowed
  std::vector<std::string> places;
  if (prefix != nullptr && PyUnicode_Check(prefix)) {
    const std::string lib = bytes_of(prefix) + "/lib";
    places = {lib, lib + folder + "/site-packages/cmeel.prefix/lib"};
  }
  std::string file = llvm_openmp_file(places);
  const bool first = std::getenv(kParentVariable) == nullptr;
  if (first) print_line(file.empty() ? kOpenMpMissing : kOpenMpReplaced);
  if (!file.empty()) files.push_back(std::move(file));
}

}  // namespace

bool is_loaded(const Wrapper& wrapper) {
  void* const library = ::dlopen(std::string(wrapper.library).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

std::string beside_recorder(std::string_view library) {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&record::stop), &info) == 0) return {};
  std::error_code error;
  const fs::path file = fs::absolute(info.dli_fname, error).parent_path() / library;
  return fs::exists(file, error) ? file.string() : std::string();
}

void load_wrappers(const Settings& given) {
  Settings settings = given;
  ask_for_mpi(settings, environ);
  const std::string present = preload_variable();
  std::vector<std::string> files;
  std::vector<Wrapper> missing;
  for (const Wrapper& wrapper : wanted_wrappers(settings)) {
    if (is_loaded(wrapper)) continue;
    const std::string file = beside_recorder(wrapper.library);
    if (file.empty()) {
      print_not_recorded(wrapper, "this Timeloom has no wrapper for it [TL022]");
    } else if (preloads(present, wrapper.library)) {
      print_not_recorded(wrapper,
                         "the system does not load " + file + " into this program [TL023]");
    } else {
      files.push_back(file);
      missing.push_back(wrapper);
    }
  }
  if (!files.empty() && replaces_openmp(settings)) add_llvm_openmp(files);
  if (!files.empty()) begin_again(with_libraries(present, files));
  for (const Wrapper& wrapper : missing)
    print_not_recorded(wrapper, "Python cannot be started again [TL023]");
  const std::string rest = without_wrappers(present, replaces_openmp(settings));
  if (rest != present) set_variable(rest);
}

void print_missing_wrappers(const Settings& given) {
  Settings settings = given;
  ask_for_mpi(settings, environ);
  const auto rank = launched_rank_of_this_process(environ);
  if (rank && rank->rank != 0) return;  // all would print the same
  for (const Wrapper& wrapper : wanted_wrappers(settings)) {
    if (is_loaded(wrapper)) continue;
    print_not_recorded(wrapper, "start Python with LD_PRELOAD=$(timeloom preload --print " +
                                    std::string(wrapper.option) + ") [TL024]");
  }
}

}  // namespace timeloom::python
