// The regions of code objects, and the decision whether they are recorded.
//
// The decision is made once, when a code object is first seen, and kept with it: the event
// path finds it with two loads, and it dies with the code object, so that a new object at the
// same address has none. Needs the GIL, or on builds without one an attached thread state.
//
// A code object keeps a word, and for a region with it, where event words have their time,
// the number of the measurement that has defined the region last:
//
//      63                                28 27                          0
//     +------------------------------------+-----------------------------+
//     | number of the measurement, or 0    | enter word, or a CodeMark    |
//     +------------------------------------+-----------------------------+
//
// So one comparison, in ready_word(), tells the words that can be recorded as they are from
// all others: not seen yet, excluded, watched, or of a region that this measurement has not
// entered before.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "core/event_word.hpp"
#include "core/filter/filter.hpp"
#include "python/interpreter/compat.hpp"
#include "python/observe/regions/region_style.hpp"
#include "python/observe/regions/search_filter.hpp"
#include "record/thread_recorder.hpp"

namespace timeloom::python {

// Kept with a code object in the place of an enter word, where its calls are not recorded as they
// are: one value for each reason.
enum class CodeMark : std::uint32_t {
  kExcluded,      // not recorded
  kOwn,           // nor are the C functions that it calls: our own Python files, and importing
                  // where it is hidden
  kWatched,       // see watched.hpp; the word to enter is there
  kExcludedFile,  // for its file: nor are the C functions that it calls
  kThrottled,     // no longer recorded, see budget.hpp
};
// The mark as a word of the kind of a leave, so that it differs from all enter words.
constexpr EventWord mark_word(CodeMark mark) noexcept {
  return make_word(WordKind::kLeave, static_cast<std::uint32_t>(mark));
}
inline constexpr EventWord kExcluded = mark_word(CodeMark::kExcluded);
inline constexpr EventWord kOwn = mark_word(CodeMark::kOwn);
inline constexpr EventWord kWatched = mark_word(CodeMark::kWatched);
inline constexpr EventWord kExcludedFile = mark_word(CodeMark::kExcludedFile);
inline constexpr EventWord kThrottledCode = mark_word(CodeMark::kThrottled);

// Side by side for the event path.
struct Keeping {
  // Where code objects keep what the rules in force decide.
  std::atomic<Py_ssize_t> index = 0;
  // Kept words from this value on hold the number of the running measurement: their regions are
  // defined in it. No word reaches it before the first measurement.
  std::atomic<std::uint64_t> ready_from = std::uint64_t{1} << kTimeShift;
};
// Hidden, as it is defined, so that it is read without asking where it lies.
[[gnu::visibility("hidden")]] extern Keeping g_keeping;
inline Py_ssize_t code_index() noexcept { return g_keeping.index.load(std::memory_order_relaxed); }
inline std::uint64_t ready_from() noexcept {
  return g_keeping.ready_from.load(std::memory_order_relaxed);
}
// Another measurement has begun: it has defined no region yet. `goes_on`: it is the
// measurement of a forked child, in which regions of its parent are open.
void begin_definitions(bool goes_on) noexcept;
// Changes with each measurement that does not go on.
std::uint64_t first_measurement() noexcept;

inline std::uint64_t kept_word(PyCodeObject* code) noexcept {
  return load_code_extra(code, code_index());
}
constexpr EventWord word_in(std::uint64_t kept) noexcept {
  return kept & ((EventWord{1} << kTimeShift) - 1);
}
// The enter word of the code object's region, a CodeMark as a word, or 0: not seen yet.
inline EventWord known_word(PyCodeObject* code) noexcept { return word_in(kept_word(code)); }
// True, and the word: it can be recorded as it is.
inline bool ready_word(PyCodeObject* code, EventWord* word) noexcept {
  return !__builtin_sub_overflow(kept_word(code), ready_from(), word);
}
inline bool is_region(EventWord word) noexcept { return kind_of(word) == WordKind::kEnter; }
inline bool calls_c_recorded(EventWord word) noexcept {
  return word != kOwn && word != kExcludedFile;
}
inline bool is_excluded(EventWord word) noexcept {
  return word != 0 && word != kWatched && !is_region(word);
}
// Whether calls of a code object whose known_word() this is may be on a recorder's stack.
inline bool is_recorded(EventWord word) noexcept { return is_region(word) || word == kWatched; }

inline record::Token token_of(PyCodeObject* code) noexcept {
  return reinterpret_cast<record::Token>(code);
}

// The text of -c by which this process was started belongs to a library, and so does the first body
// of __main__ that comes from a text. REQUIRES: the program has not begun.
void name_command(const char* library) noexcept;

// Called on every decision of a thread for code that it runs, if it is set.
extern void (*g_on_new_code)() noexcept;

// Code objects seen for the first time since begin_definitions(), and the CPU time of deciding on
// them and of defining their regions.
struct Registrations {
  std::uint64_t count = 0;
  std::uint64_t cpu_ns = 0;
};
Registrations registrations() noexcept;

// Decides for a code object that runs with these globals; nullptr: it is of C code, and its module
// is found by its file.
EventWord decide_word(PyCodeObject* code, PyObject* globals) noexcept;

// The same in a sub-interpreter, for its own code objects, which keep the word at `index`. None is
// watched, and C code, which has no globals, is excluded. Touches nothing that needs the GIL of the
// main interpreter. REQUIRES: the rules have no SearchFilter.
EventWord decide_in_sub_interpreter(PyCodeObject* code, PyObject* globals,
                                    Py_ssize_t index) noexcept;

// For stacks of samples, which have no calls: decides for the code object, if nobody has, and
// defines its region in the running measurement; it keeps the enter word of its calls. Where calls
// are recorded, watched ones stay as they are. `globals`: as for decide_word().
void define_code(PyCodeObject* code, PyObject* globals) noexcept;
// The same on a thread of ours, for code that runs on another one.
void define_code_elsewhere(PyCodeObject* code, PyObject* globals) noexcept;

// Enters the region of a code object whose known_word() is `word`, and keeps that the running
// measurement has defined it.
void enter_code(PyCodeObject* code, EventWord word) noexcept;

// Whether the rules exclude a region, a function of C (by its bare name), or a user region.
bool excludes(const Region& region);
bool excludes_c_function(const Region& region, const std::string& name);
bool excludes_user_region(const Region& region);
// Whether there are rules for user regions; any rules at all.
bool filters_user_regions() noexcept;
bool filters_anything() noexcept;

// The rules of a measurement, by which a code object is decided once.
struct RegionRules {
  Filter filter;
  std::string packages;  // the directory, with a / at the end, of our own packages: these are
                         // never recorded
  const RegionStyle* style = &kTimeloomNames;
  LabelParts label = {};
  SearchFilter search = {};
  std::uint64_t said = 0;  // the setting say-filtered
  bool engine_functions = true;
  bool sampled = false;  // the regions of code objects are found by stacks of samples
  friend bool operator==(const RegionRules&, const RegionRules&) = default;
};

// Takes the rules for all decisions from here on; those made by other rules are
// not asked meanwhile. False when the interpreter has no room for our decisions.
bool set_rules(const RegionRules& rules);
// The style of region names by the rules in force.
const RegionStyle& region_style() noexcept;
const LabelParts& label_parts() noexcept;
// Whether a file is one of our own packages, by the rules in force.
bool is_own_file(const std::string& file);

// The source file of a code object as its region has it, and its last line.
std::string file_of(PyCodeObject* code);
std::uint32_t last_line_of(PyCodeObject* code);

}  // namespace timeloom::python
