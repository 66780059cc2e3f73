#include "python/observe/regions/watched.hpp"

#include <map>
#include <memory>
#include <utility>

#include "python/interpreter/free_threading.hpp"
#include "python/observe/regions/code_regions.hpp"
#include "python/observe/regions/label.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {
namespace {

struct Watched {
  EventWord word;
  WatchCall call;  // null: nobody is told
  Entering entering;
  std::shared_ptr<const Region> region;  // of kArguments
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

namespace {

WatchCall watcher_of(const std::string& name) {
  const auto found = tables().names.find(name);
  return found == tables().names.end() ? nullptr : found->second;
}

}  // namespace

bool watch(PyCodeObject* code, const std::string& name, EventWord word, Entering entering,
           const Region& region) {
  WatchCall call = watcher_of(name);
  if (call == nullptr) call = watcher_of(region.canonical_name);
  if (call == nullptr && entering == Entering::kWord) return false;
  std::shared_ptr<const Region> kept;
  if (entering == Entering::kArguments) kept = std::make_shared<const Region>(region);
  tables().codes.insert_or_assign({code_index(), code},
                                  Watched{word, call, entering, std::move(kept)});
  return true;
}

namespace {

EventWord word_of_call(const Region& region, InterpreterFrame* frame) {
  Region labelled = region;
  labelled.name = region_style().label(label_parts(), region, arguments_of(frame));
  return record::enter_word(record::region_id(labelled));
}

void enter_watched_region(const Watched& watched, PyCodeObject* code, InterpreterFrame* frame) {
  EventWord word = watched.word;
  if (watched.entering == Entering::kNothing) {
    record::t_recorder->enter_hiding(token_of(code));
  } else if (watched.entering == Entering::kArguments && frame != nullptr) {
    word = word_of_call(*watched.region, frame);
  }
  if (is_region(word)) record::enter_region(token_of(code), word);
}

}  // namespace

EventWord word_of_open_call(PyCodeObject* code, EventWord known) noexcept {
  if (known != kWatched) return known;
  const auto found = tables().codes.find({code_index(), code});
  if (found == tables().codes.end()) return kExcluded;
  const bool hides = found->second.entering == Entering::kNothing;
  return hides ? record::kHidesCalls : found->second.word;
}

void enter_watched(PyCodeObject* code, InterpreterFrame* frame) noexcept {
  const CriticalSection critical;
  const auto found = tables().codes.find({code_index(), code});
  if (found == tables().codes.end()) return;
  try {
    const Watched watched = found->second;  // what follows may run the program's code
    enter_watched_region(watched, code, frame);
    if (frame != nullptr && watched.call != nullptr) watched.call(frame, is_region(watched.word));
  } catch (const std::exception&) {
    return;  // out of memory: this call is not recorded
  }
}

}  // namespace timeloom::python
