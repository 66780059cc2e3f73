#include "python/launch/run_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/launch/end/end_of_run.hpp"
#include "record/measurement.hpp"
#include "record/native/wrapper_interface.hpp"

namespace timeloom::python {
namespace {

// 1 if the importer of sys.path finds a __main__ in `path`, 0 if it finds none, -1 if `path` is not
// a place for modules: then it is a script.
int has_main(const std::string& path) {
  Ref name(object_of(path));
  Ref importer(name ? PyImport_GetImporter(name.get()) : nullptr);
  if (!importer || importer.get() == Py_None) {
    PyErr_Clear();
    return -1;
  }
  Ref spec(PyObject_CallMethod(importer.get(), "find_spec", "s", "__main__"));
  if (!spec) PyErr_Clear();
  return spec && spec.get() != Py_None ? 1 : 0;
}

// Python gives __main__ a loader before the program begins, of the one class or
// the other, made by a Python function that would be the first of every trace.
// While this lives, the next loader is made unrecorded; by then both classes are
// in their places again, so the program does not see any of it.
class QuietLoader {
 public:
  QuietLoader()
      : module_(Ref::borrow(
            PyDict_GetItemString(PyImport_GetModuleDict(), "_frozen_importlib_external"))) {
    for (Place& place : places_) install(place);
    PyErr_Clear();
  }
  ~QuietLoader() { restore(); }
  QuietLoader(const QuietLoader&) = delete;
  QuietLoader& operator=(const QuietLoader&) = delete;

 private:
  struct Place {
    const char* name;
    PyMethodDef method;
    QuietLoader* owner = nullptr;
    Ref loader = Ref();
    bool installed = false;
  };

  void install(Place& place) {
    place.owner = this;
    place.loader = Ref(module_ ? PyObject_GetAttrString(module_.get(), place.name) : nullptr);
    const Ref self(PyCapsule_New(&place, nullptr, nullptr));
    const Ref function(place.loader && self ? PyCFunction_New(&place.method, self.get()) : nullptr);
    place.installed =
        function && PyObject_SetAttrString(module_.get(), place.name, function.get()) == 0;
  }
  static PyObject* make(PyObject* self, PyObject* arguments) {
    auto* place = static_cast<Place*>(PyCapsule_GetPointer(self, nullptr));
    const record::KeepOff nothing_of_this;
    place->owner->restore();
    return PyObject_CallObject(place->loader.get(), arguments);
  }
  void restore() noexcept {
    PyObject *type, *value, *traceback;  // of the program, when it has ended
    PyErr_Fetch(&type, &value, &traceback);
    for (Place& place : places_) {
      if (!std::exchange(place.installed, false)) continue;
      if (PyObject_SetAttrString(module_.get(), place.name, place.loader.get()) != 0) PyErr_Clear();
    }
    PyErr_Restore(type, value, traceback);
  }

  Ref module_;
  Place places_[2] = {{"SourceFileLoader", {"loader", make, METH_VARARGS, nullptr}},
                      {"SourcelessFileLoader", {"loader", make, METH_VARARGS, nullptr}}};
};

int run_file(const Program& program, std::FILE* file) {
  record::set_own_descriptor(::fileno(file));  // Python closes it before the program begins
  if (skips_first_line()) {
    // The end of the line stays, so that the numbers of lines do.
    for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
      if (c == '\n') {
        std::ungetc(c, file);
        break;
      }
    }
  }
  if (Py_MakePendingCalls() < 0) {
    std::fclose(file);
    PyErr_Print();
    return -1;
  }
  PyCompilerFlags flags = _PyCompilerFlags_INIT;
  // At a terminal Python makes no loader, and reads line by line.
  std::optional<QuietLoader> until_it_begins;
  if (Py_FdIsInteractive(file, program.path.c_str()) == 0) until_it_begins.emplace();
  return PyRun_AnyFileExFlags(file, program.path.c_str(), 1, &flags);
}

// From 3.13 on linecache is given the text of -c once it has been compiled.
// Python's function for this is not public.
bool show_lines_of_command(PyObject* code, PyObject* text) {
  Ref linecache(PyImport_ImportModule("linecache"));
  if (!linecache) return false;
  // 3.13.0 keeps the text by name, later versions by code object.
  const bool by_code = PyObject_HasAttrString(linecache.get(), "_interactive_cache");
  Ref name(PyUnicode_FromString("<string>"));
  Ref result(name ? PyObject_CallMethod(linecache.get(), "_register_code", "OOO",
                                        by_code ? code : name.get(), text, name.get())
                  : nullptr);
  return static_cast<bool>(result);
}

int run_shown_command(const char* text, PyCompilerFlags& flags) {
  PyObject* main = PyImport_AddModule("__main__");  // borrowed
  Ref code(Py_CompileStringExFlags(text, "<string>", Py_file_input, &flags, -1));
  Ref source(PyUnicode_FromString(text));
  PyObject* dict = main == nullptr ? nullptr : PyModule_GetDict(main);
  Ref result(code && source && dict && show_lines_of_command(code.get(), source.get())
                 ? PyEval_EvalCode(code.get(), dict, dict)
                 : nullptr);
  if (result) return 0;
  PyErr_Print();
  return -1;
}

int run_command(const char* text) {
  PyCompilerFlags flags = _PyCompilerFlags_INIT;
  flags.cf_flags |= PyCF_IGNORE_COOKIE;
  return kShowsLinesOfCommand ? run_shown_command(text, flags)
                              : PyRun_SimpleStringFlags(text, &flags);
}

int run_command_text(const Program& program) {
  Ref text(object_of(program.target));
  Ref bytes(text ? PyUnicode_AsUTF8String(text.get()) : nullptr);
  if (!bytes) {
    PySys_WriteStderr("Unable to decode the command from the command line:\n");
    PyErr_Print();
    return -1;
  }
  text = Ref();
  return run_command(PyBytes_AS_STRING(bytes.get()));
}

bool inspects() { return interpreter_flag("inspect"); }

Outcome run_module(const Program& program) {
  const bool module = program.kind == Program::Kind::kModule;
  Ref name(object_of(module ? program.target : "__main__"));
  Ref runpy(PyImport_ImportModule("runpy"));
  Ref result(name && runpy ? PyObject_CallMethod(runpy.get(), "_run_module_as_main", "Oi",
                                                 name.get(), module ? 1 : 0)
                           : nullptr);
  if (result) return Outcome::kNormal;
  // Python itself ends with the status of a SystemExit. With -i it prints it.
  if (PyErr_ExceptionMatches(PyExc_SystemExit) && !inspects()) return Outcome::kExit;
  PyErr_Print();
  return Outcome::kFailed;
}

}  // namespace

void open_program(Program& program, std::string_view no_such_word, std::FILE*& file) {
  if (program.kind != Program::Kind::kFile) return;
  program.path = absolute_path(program.target);
  const int main = has_main(program.path);
  if (main == 0) throw Error("can't find '__main__' module in '" + program.path + "'");
  if (main == 1) {
    program.kind = Program::Kind::kDirectory;
    return;
  }
  file = std::fopen(program.path.c_str(), "rbe");
  if (file == nullptr) {
    const int why = errno;
    const bool bare_word = program.target.find_first_of("./") == std::string::npos;
    throw Error("can't open file '" + program.path + "': [Errno " + std::to_string(why) + "] " +
                std::strerror(why) +
                std::string(why == ENOENT && bare_word ? no_such_word : std::string_view()));
  }
  struct stat status {};
  if (::fstat(::fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw Error("'" + program.path + "' is a directory, cannot continue");
  }
}

bool prepare_command(const Program& program) {
  const bool needed = kShowsLinesOfCommand && program.kind == Program::Kind::kCommand;
  return !needed || Ref(PyImport_ImportModule("linecache"));
}

Outcome run_program(const Program& program, std::FILE* file) {
  int result = 0;
  PyCompilerFlags flags = _PyCompilerFlags_INIT;
  switch (program.kind) {
    case Program::Kind::kModule:
    case Program::Kind::kDirectory: return run_module(program);
    case Program::Kind::kFile: result = run_file(program, file); break;
    case Program::Kind::kCommand: result = run_command_text(program); break;
    case Program::Kind::kStdin: result = PyRun_AnyFileExFlags(stdin, "<stdin>", 0, &flags); break;
  }
  return result == 0 ? Outcome::kNormal : Outcome::kFailed;
}

PyObject* pass_on(Outcome outcome) {
  if (outcome == Outcome::kNormal) Py_RETURN_NONE;
  if (outcome == Outcome::kExit) return nullptr;
  if (inspects()) {
    // Python would print a SystemExit of ours. It asks the terminal next, and the words typed there
    // decide about the status; without a terminal it is 1.
    if (interpreter_flag("interactive") || ::isatty(STDIN_FILENO)) Py_RETURN_NONE;
    Py_Exit(1);
  }
  // A status would end a python that has been given a script before it looks at that.
  if (PySys_GetObject("last_type") == PyExc_KeyboardInterrupt) {
    end_by_interrupt();
    Py_RETURN_NONE;
  }
  PyErr_SetObject(PyExc_SystemExit, Ref(PyLong_FromLong(1)).get());
  return nullptr;
}

}  // namespace timeloom::python
