#include "python/observe/watched.hpp"

#include <map>
#include <utility>

#include "python/interpreter/free_threading.hpp"
#include "python/observe/code_regions.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Watched {
  EventWord word;
  WatchCall call;
};

struct Tables {
  std::map<std::string, WatchCall, std::less<>> names;
  // By the rules that decided and the code object. An entry of code that died is overwritten when
  // its address is used again; there are a few of them in a program.
  std::map<std::pair<Py_ssize_t, PyCodeObject*>, Watched> codes;
};

Tables& tables() {
  static auto* const kInstance = new Tables;
  return *kInstance;
}

}  // namespace

void watch_function(std::string_view name, WatchCall call) {
  tables().names.insert_or_assign(std::string(name), call);
}

void unwatch_function(std::string_view name) noexcept {
  const auto found = tables().names.find(name);
  if (found != tables().names.end()) tables().names.erase(found);
}

bool watch(PyCodeObject* code, const std::string& name, EventWord word) {
  const auto found = tables().names.find(name);
  if (found == tables().names.end()) return false;
  tables().codes.insert_or_assign({code_index(), code}, Watched{word, found->second});
  return true;
}

void enter_watched(PyCodeObject* code, InterpreterFrame* frame) noexcept {
  const CriticalSection critical;
  const auto found = tables().codes.find({code_index(), code});
  if (found == tables().codes.end()) return;
  const Watched watched = found->second;
  const bool recorded = is_region(watched.word);
  if (recorded) record::enter_region(token_of(code), watched.word);
  if (frame != nullptr) watched.call(frame, recorded);
}

}  // namespace timeloom::python
