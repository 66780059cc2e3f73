#include "python/launch/main_module.hpp"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "python/interpreter/first_path.hpp"
#include "python/interpreter/python_text.hpp"
#include "settings/command_line.hpp"

namespace timeloom::python {
namespace {

std::string directory_of_process() {
  char buffer[PATH_MAX];
  return ::getcwd(buffer, sizeof buffer) == nullptr ? std::string() : std::string(buffer);
}

InterpreterStart interpreter_start() {
  PyObject* words = PySys_GetObject("orig_argv");  // borrowed
  if (words == nullptr || !PyList_Check(words) || PyList_GET_SIZE(words) == 0) return {};
  std::vector<std::string> all = words_of(words);
  all.erase(all.begin());
  return split_interpreter_start(all);
}

bool started_as_module(const InterpreterStart& start, const Door& door) {
  return start.program.size() >= 2 && start.program[0] == "-m" &&
         std::ranges::find(door.modules, start.program[1]) != door.modules.end();
}

// "-3.12", of commands that are for one version.
bool is_version(std::string_view text) {
  return text.starts_with('-') && text.find_first_not_of("-.0123456789") == std::string_view::npos;
}

// By the command that pip made of a function of ours.
bool started_by_command(const InterpreterStart& start, const Door& door) {
  if (start.program.empty()) return false;
  const std::string name = start.program[0].substr(start.program[0].rfind('/') + 1);
  return std::ranges::any_of(door.commands, [&](std::string_view command) {
    return name.starts_with(command) &&
           (name.size() == command.size() || is_version(name.substr(command.size())));
  });
}

// By the path of a package of ours, as `timeloom run` does.
bool started_by_path(const InterpreterStart& start, const Door& door) {
  const std::string package = package_directory();
  const std::string packages = package.substr(0, package.rfind('/') + 1);
  if (packages.empty() || start.program.empty()) return false;
  return std::ranges::any_of(door.modules, [&](std::string_view module) {
    return start.program[0] == packages + std::string(module) + "/__main__.py";
  });
}

bool runs_through_runpy(const Program& program) {
  return program.kind == Program::Kind::kModule || program.kind == Program::Kind::kDirectory;
}

// As python's own add_main_module().
bool make_main_module() {
  Ref main(PyModule_New("__main__"));
  Ref annotations(PyDict_New());
  Ref builtins(PyImport_ImportModule("builtins"));
  Ref frozen(PyImport_ImportModule("_frozen_importlib"));
  if (!main || !annotations || !builtins || !frozen) return false;
  Ref loader(PyObject_GetAttrString(frozen.get(), "BuiltinImporter"));
  PyObject* dict = PyModule_GetDict(main.get());
  if (kMainHasAnnotations && PyDict_SetItemString(dict, "__annotations__", annotations.get()) < 0)
    return false;
  return loader && PyDict_SetItemString(dict, "__builtins__", builtins.get()) == 0 &&
         PyDict_SetItemString(dict, "__loader__", loader.get()) == 0 &&
         PyDict_SetItemString(PyImport_GetModuleDict(), "__main__", main.get()) == 0;
}

bool forget(PyObject* name) {
  PyObject* modules = PyImport_GetModuleDict();
  Ref module = Ref::borrow(PyDict_GetItemWithError(modules, name));
  if (!module) return !PyErr_Occurred();
  if (PyDict_DelItem(modules, name) < 0) return false;
  // A package that stays must not show a submodule that it would not have.
  const std::string whole = bytes_of(name);
  const std::size_t dot = whole.rfind('.');
  if (dot == std::string::npos) return true;
  PyObject* parent = PyDict_GetItemString(modules, whole.substr(0, dot).c_str());
  if (parent != nullptr && PyObject_DelAttrString(parent, whole.c_str() + dot + 1) < 0)
    PyErr_Clear();
  return true;
}

bool is_name(PyObject* object, const char* text) {
  return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, text) == 0;
}

// -X lazy_imports=all, from 3.15 on: runpy imports its modules when it uses them.
bool imports_are_lazy() {
  PyObject* mode = PySys_GetObject("get_lazy_imports");  // borrowed
  const Ref all(mode == nullptr ? nullptr : PyObject_CallNoArgs(mode));
  if (!all) PyErr_Clear();
  return all && is_name(all.get(), "all");
}

bool is_of_timeloom(PyObject* name) {
  const std::string text = bytes_of(name);
  return text == "timeloom" || text.starts_with("timeloom.");
}

// Importing a module puts its name behind the names of the modules that it imports. Python's own
// start ends with `site`; then -m imports runpy, and importlib as its first part. The rest is ours;
// 3.11 in development mode loads encodings.ascii to import an extension.
bool forget_imports(bool keep_runpy) {
  PyObject* modules = PyImport_GetModuleDict();
  const bool has_site = PyDict_GetItemString(modules, "site") != nullptr;
  Ref names(PyDict_Keys(modules));
  if (!names) return false;
  const bool has_runpy = PyDict_GetItemString(modules, "runpy") != nullptr;
  const bool lazy = has_runpy && imports_are_lazy();
  enum { kStart, kRunpy, kOurs } part = kStart;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); ++i) {
    PyObject* name = PyList_GET_ITEM(names.get(), i);
    if (!has_site && part == kStart && has_runpy && is_name(name, "importlib._bootstrap")) {
      part = kRunpy;
    }
    const bool of_runpy = part == kRunpy && !keep_runpy && !is_name(name, "__main__");
    const bool of_ours = part == kOurs && is_name(name, "encodings.ascii");
    const bool late = part == kOurs && lazy && !keep_runpy && !is_of_timeloom(name);
    if ((of_runpy || of_ours || late) && !forget(name)) return false;
    if (is_name(name, "site")) part = has_runpy ? kRunpy : kOurs;
    if (is_name(name, "runpy")) part = kOurs;
  }
  return true;
}

bool forget_modules(const Program& program, PyObject* brought) {
  Ref names(PySequence_Fast(brought, "a list of names"));
  if (!names) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(names.get()); ++i) {
    if (!forget(PySequence_Fast_GET_ITEM(names.get(), i))) return false;
  }
  // An interactive start imports readline between site and runpy.
  return forget_imports(runs_through_runpy(program) || interpreter_flag("interactive"));
}

bool set_sys_list(const char* name, const std::vector<std::string>& words) {
  const Ref list(list_of(words));
  return list && PySys_SetObject(name, list.get()) == 0;
}

std::vector<std::string> with_arguments(std::vector<std::string> first, const Program& program) {
  first.insert(first.end(), program.arguments.begin(), program.arguments.end());
  return first;
}

bool set_arguments(const Program& program, const InterpreterStart& start, const Door& door) {
  std::vector<std::string> argv0 = {program.target};
  std::vector<std::string> original = {program.target};
  if (program.kind == Program::Kind::kModule) {
    argv0 = {"-m"};
    original = {"-m", program.target};
  } else if (program.kind == Program::Kind::kCommand) {
    argv0 = {"-c"};
    original = {"-c", program.target};
  } else if (program.target.starts_with("-") && program.target != "-") {
    original = {"--", program.target};
  }
  if (!set_sys_list("argv", with_arguments(argv0, program))) return false;
  PyObject* words = PySys_GetObject("orig_argv");  // borrowed
  const bool ours = started_as_module(start, door) || started_by_path(start, door) ||
                    started_by_command(start, door);
  if (!ours || words == nullptr) return true;
  original.insert(original.begin(), start.flags.begin(), start.flags.end());
  original.insert(original.begin(), words_of(words).front());
  return set_sys_list("orig_argv", with_arguments(original, program));
}

// Where python looks for modules first, given the path of a script: its real
// directory. A link is followed by name first, as for a script read from a
// descriptor (/dev/fd/63) there is no real path.
std::string directory_of_script(std::string path) {
  char buffer[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), buffer, sizeof buffer);
  if (length > 0) {
    const std::string link(buffer, static_cast<std::size_t>(length));
    const std::size_t slash = path.rfind('/');
    if (link.front() == '/' ||
        (link.find('/') != std::string::npos && slash == std::string::npos)) {
      path = link;
    } else if (link.find('/') != std::string::npos) {
      path = path.substr(0, slash + 1) + link;
    }
  }
  if (::realpath(path.c_str(), buffer) != nullptr) path = buffer;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Without it, their programs would search the directory of this package.
bool set_path_of_sub_interpreters(const Ref& entry) {
  wchar_t* const wide = PyUnicode_AsWideCharString(entry.get(), nullptr);
  const bool set = wide != nullptr && timeloom_set_first_path(wide) == 0;
  PyMem_Free(wide);
  PyErr_Clear();  // no memory: the program runs in any case
  return set || wide == nullptr;
}

// The entry that python has put first for us: the current directory with -m, or the one of the
// file that was started. The program has an entry of its own.
bool set_path(const Program& program, const InterpreterStart& start, const Door& door) {
  PyObject* path = PySys_GetObject("path");  // borrowed
  if (path == nullptr || !PyList_Check(path)) return true;
  const bool safe = interpreter_flag("safe_path");
  if (!safe && PyList_GET_SIZE(path) > 0) {
    PyObject* first = PyList_GET_ITEM(path, 0);
    const std::string entry = started_as_module(start, door) ? directory_of_process()
                              : started_by_path(start, door) || started_by_command(start, door)
                                  ? directory_of_script(start.program[0])
                                  : std::string();
    const bool ours = !entry.empty() && PyUnicode_Check(first) && bytes_of(first) == entry;
    if (ours && PyList_SetSlice(path, 0, 1, nullptr) < 0) return false;
  }
  std::string entry;
  switch (program.kind) {
    case Program::Kind::kDirectory: entry = program.path; break;
    case Program::Kind::kFile: entry = directory_of_script(program.target); break;
    case Program::Kind::kModule: entry = directory_of_process(); break;
    case Program::Kind::kCommand:
    case Program::Kind::kStdin: break;
  }
  const bool gone = program.kind == Program::Kind::kModule && entry.empty();
  if (gone || (safe && program.kind != Program::Kind::kDirectory)) {
    return timeloom_set_first_path(nullptr) == 0;
  }
  Ref text(object_of(entry));
  return text && PyList_Insert(path, 0, text.get()) == 0 && set_path_of_sub_interpreters(text);
}

}  // namespace

bool prepare_interpreter(const Program& program, PyObject* brought, const Door& door) {
  const InterpreterStart start = interpreter_start();
  return forget_modules(program, brought) && make_main_module() &&
         set_arguments(program, start, door) && set_path(program, start, door);
}

std::string package_directory() {
  PyObject* package = PyDict_GetItemString(PyImport_GetModuleDict(), "timeloom");
  Ref file(package == nullptr ? nullptr : PyObject_GetAttrString(package, "__file__"));
  if (!file || !PyUnicode_Check(file.get())) {
    PyErr_Clear();
    return {};
  }
  const std::string path = bytes_of(file.get());
  return path.substr(0, path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
}

std::string absolute_path(const std::string& path) {
  const std::string directory = directory_of_process();
  if (path.starts_with('/') || directory.empty()) return path;
  return path == "." ? directory : directory + "/" + path;
}

bool interpreter_flag(const char* name) {
  PyObject* flags = PySys_GetObject("flags");  // borrowed
  Ref flag(flags == nullptr ? nullptr : PyObject_GetAttrString(flags, name));
  const int result = flag ? PyObject_IsTrue(flag.get()) : -1;
  if (result < 0) PyErr_Clear();
  return result == 1;
}

bool started_by_timeloom_run(std::vector<std::string>& flags) {
  const InterpreterStart start = interpreter_start();
  flags = start.flags;
  return started_by_path(start, kTimeloomDoor);
}

bool skips_first_line() {
  for (const std::string& flag : interpreter_start().flags) {
    const bool letters = flag.starts_with('-') && flag.find_first_of("WX") == std::string::npos;
    if (letters && flag.find('x') != std::string::npos && !flag.starts_with("--")) return true;
  }
  return false;
}

}  // namespace timeloom::python
