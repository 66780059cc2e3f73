#include "python/observe/locks/lock_places.hpp"

#include <string_view>

#include "python/interpreter/compat_frame.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/session/session.hpp"

namespace timeloom::python {
namespace {

using record::LockAccount;

constexpr int kMostFrames = 32;             // that are searched for one of the program
constexpr std::size_t kMostPlaces = 65536;  // of which the code is kept alive

InterpreterFrame* innermost_frame() noexcept {
  PyThreadState* const thread = running_thread();
  return thread == nullptr ? nullptr : current_frame(thread);
}

int instruction_of(InterpreterFrame* frame) noexcept {
  return static_cast<int>(_PyInterpreterFrame_LASTI(frame)) *
         static_cast<int>(sizeof(_Py_CODEUNIT));
}

std::string text_of_name(PyObject* name) {
  return name != nullptr && PyUnicode_Check(name) ? utf8_text(name) : std::string();
}

bool is_named(PyCodeObject* code, const char* name) noexcept {
  return PyUnicode_CompareWithASCIIString(code->co_qualname, name) == 0;
}

bool is_in_packages(std::string_view file) noexcept {
  return file.find("/site-packages/") != std::string_view::npos ||
         file.find("/dist-packages/") != std::string_view::npos;
}

// "Queue" of "Queue.__init__".
std::string maker_name(PyCodeObject* code) {
  std::string name = text_of_name(code->co_qualname);
  constexpr std::string_view kInit = ".__init__";
  if (name.ends_with(kInit)) name.resize(name.size() - kInit.size());
  return name;
}

}  // namespace

LockPlaces::LockPlaces(LockAccount& account) : account_(&account), own_(own_directory() + "/") {
  PyObject* const library = PySys_GetObject("_stdlib_dir");  // borrowed
  library_ = text_of_name(library);
  if (!library_.empty()) library_ += '/';
}

LockPlaces::~LockPlaces() {
  for (PyCodeObject* code : referenced_) Py_DECREF(code);
}

LockPlaces::Known LockPlaces::learn(PyCodeObject* code, int instruction) {
  const std::string file = text_of_name(code->co_filename);
  const int line = PyCode_Addr2Line(code, instruction);
  Known known;
  known.own = own_.size() > 1 && file.starts_with(own_);
  known.importing = file.starts_with("<frozen importlib");
  known.library = file.starts_with("<frozen ") ||
                  (!library_.empty() && file.starts_with(library_) && !is_in_packages(file));
  known.place = account_->place(file, text_of_name(code->co_qualname),
                                line > 0 ? static_cast<std::uint32_t>(line) : 0);
  return known;
}

const LockPlaces::Known& LockPlaces::known(PyCodeObject* code, int instruction) {
  const auto number = static_cast<std::uint32_t>(instruction);
  if (const Known* const found = known_.find(code, number)) return *found;
  static constexpr Known kUnknown;
  if (known_.size() >= kMostPlaces) {
    account_->file()->header().lost.fetch_add(1);
    return kUnknown;
  }
  const Known made = learn(code, instruction);
  referenced_.push_back(code);
  Py_INCREF(code);  // another one may not come to lie at its address
  return known_.insert(code, number, made);
}

LockAccount::PlaceId LockPlaces::here() {
  InterpreterFrame* frame = innermost_frame();
  if (frame == nullptr) return LockAccount::kNone;
  const Known& innermost = known(code_of(frame), instruction_of(frame));
  if (!innermost.library || innermost.importing) return innermost.place;
  const LockAccount::PlaceId place = innermost.place;
  frame = outer_frame_of(frame);
  for (int i = 0; i < kMostFrames && frame != nullptr; ++i, frame = outer_frame_of(frame)) {
    const Known& outer = known(code_of(frame), instruction_of(frame));
    if (!outer.library) return outer.place;
  }
  return place;
}

LockPlaces::Making LockPlaces::making() {
  Making making;
  InterpreterFrame* frame = innermost_frame();
  if (frame == nullptr) return making;
  PyCodeObject* maker = nullptr;
  for (int i = 0; i < kMostFrames && frame != nullptr; ++i, frame = outer_frame_of(frame)) {
    PyCodeObject* const code = code_of(frame);
    const Known& at = known(code, instruction_of(frame));
    if (i == 0) {
      making.place = at.place;
      making.waits = at.library && is_named(code, "Condition.wait");
      making.hidden = at.library && is_named(code, "Thread._set_tstate_lock");
    }
    making.hidden = making.hidden || at.own;
    if (at.importing) return making;
    if (!at.library) {
      making.place = at.place;
      if (maker != nullptr) making.maker = account_->text(maker_name(maker));
      return making;
    }
    maker = code;
  }
  return making;
}

}  // namespace timeloom::python
