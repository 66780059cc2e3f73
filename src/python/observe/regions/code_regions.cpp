#include "python/observe/regions/code_regions.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "python/interpreter/free_threading.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/interpreter/python_text.hpp"
#include "python/observe/regions/engine_functions.hpp"
#include "python/observe/regions/module_of_file.hpp"
#include "python/observe/regions/watched.hpp"
#include "python/observe/tasks/greenlets.hpp"
#include "record/measurement.hpp"

namespace timeloom::python {

constinit Keeping g_keeping;

namespace {
constinit std::atomic<std::uint64_t> g_first_measurement = 0;
}

namespace {

std::atomic<std::uint64_t> g_registrations = 0;
std::atomic<std::uint64_t> g_registration_ns = 0;

// Counts the CPU time of its life as that for code that is seen for the first time.
class RegistrationTimer {
 public:
  RegistrationTimer() noexcept = default;
  ~RegistrationTimer() {
    g_registration_ns.fetch_add(record::thread_cpu_ns() - begin_, std::memory_order_relaxed);
  }
  RegistrationTimer(const RegistrationTimer&) = delete;
  RegistrationTimer& operator=(const RegistrationTimer&) = delete;

 private:
  const std::uint64_t begin_ = record::thread_cpu_ns();
};

}  // namespace

Registrations registrations() noexcept { return {g_registrations, g_registration_ns}; }

void begin_definitions(bool goes_on) noexcept {
  g_registrations = 0;
  g_registration_ns = 0;
  const std::uint64_t number = record::measurement_number();
  g_keeping.ready_from = number << kTimeShift;
  if (!goes_on) g_first_measurement = number;
}

std::uint64_t first_measurement() noexcept { return g_first_measurement; }

namespace {

struct Rules {
  RegionRules rules;
  Py_ssize_t index = -1;  // where code objects keep what these rules decide
};

// The decisions of all measurements of this process, which are kept. The interpreter never
// takes an index back, so the same rules use the same one again.
std::vector<std::unique_ptr<const Rules>>& all_rules() {
  static auto* const kInstance = new std::vector<std::unique_ptr<const Rules>>;
  return *kInstance;
}
const Rules kNoRules;
constinit std::atomic<const Rules*> g_rules = &kNoRules;  // those in force
constinit std::atomic<bool> g_leave_out = false;  // they leave out more than what importing does

const RegionRules& rules() { return g_rules.load(std::memory_order_acquire)->rules; }

constexpr std::string_view kOwnPackages[] = {
    "timeloom/",        "scorep/",         "omnitrace/",      "rocprofsys/",
    "timeloom_kernel/", "scorep_jupyter/", "timeloom_follow."};

std::string module_of(PyObject* globals) {
  if (!PyDict_Check(globals)) return {};
  PyObject* name = PyDict_GetItemString(globals, "__name__");  // borrowed
  return name != nullptr && PyUnicode_Check(name) ? utf8_text(name) : std::string{};
}

const char* g_command_of = nullptr;  // see name_command(); until that has been seen

// cloudpickle ships code without its file, and the file with the globals.
std::string shipped_file(std::string file, PyObject* globals) {
  if (file != "<dynamic-code>" || globals == nullptr || !PyDict_Check(globals)) return file;
  PyObject* const of_module = PyDict_GetItemString(globals, "__file__");  // borrowed
  if (of_module == nullptr || !PyUnicode_Check(of_module)) return file;
  return rules().style->absolute_files ? absolute_file(file_text(of_module)) : file_text(of_module);
}

bool is_command(PyCodeObject* code, const std::string& module) {
  return in_main_interpreter() && g_command_of != nullptr && module == "__main__" &&
         is_text(code->co_filename, "<string>") && is_text(code->co_qualname, "<module>");
}

Region code_region(PyCodeObject* code, PyObject* globals) {
  Region region;
  region.group =
      globals == nullptr ? module_of_file(utf8_text(code->co_filename)) : module_of(globals);
  std::string qualified = utf8_text(code->co_qualname);
  if (is_command(code, region.group)) {
    region.group = std::exchange(g_command_of, nullptr);
    qualified = "<command>";
  }
  region.canonical_name = region.group.empty() ? qualified : region.group + "." + qualified;
  region.name = rules().style->function_name(region.group, qualified);
  region.file = shipped_file(file_of(code), globals);
  region.first_line =
      code->co_firstlineno > 0 ? static_cast<std::uint32_t>(code->co_firstlineno) : 0;
  region.paradigm = rules().style->functions;
  region.role = RegionRole::kFunction;
  return region;
}

}  // namespace

std::uint32_t last_line_of(PyCodeObject* code) {
  int last = code->co_firstlineno;
  const Ref lines(PyObject_CallMethod(reinterpret_cast<PyObject*>(code), "co_lines", nullptr));
  const Ref iterator(lines ? PyObject_GetIter(lines.get()) : nullptr);
  while (iterator) {
    const Ref item(PyIter_Next(iterator.get()));
    if (!item) break;
    PyObject* line = PyTuple_GET_ITEM(item.get(), 2);
    if (line != Py_None) last = std::max(last, static_cast<int>(PyLong_AsLong(line)));
  }
  PyErr_Clear();
  return last > 0 ? static_cast<std::uint32_t>(last) : 0;
}

const RegionStyle& region_style() noexcept { return *rules().style; }
const LabelParts& label_parts() noexcept { return rules().label; }

std::string file_of(PyCodeObject* code) {
  std::string file = file_text(code->co_filename);
  return rules().style->absolute_files ? absolute_file(std::move(file)) : file;
}

bool excludes(const Region& region) { return rules().filter.excluded(region); }
bool excludes_c_function(const Region& region, const std::string& name) {
  return excludes(region) || rules().search.excludes_c_function(name);
}
bool excludes_user_region(const Region& region) { return rules().filter.excluded_by_file(region); }
bool filters_anything() noexcept { return g_leave_out; }
bool filters_user_regions() noexcept { return !rules().filter.choices().file.empty(); }

void (*g_on_new_code)() noexcept = nullptr;

void name_command(const char* library) noexcept { g_command_of = library; }

namespace {

struct Decision {
  EventWord word = kExcluded;
  Entering entering = Entering::kWord;
};

// For a user who looks for the right expressions.
void print_decision(const Region& region, const Decision& decision) {
  const bool excluded = decision.entering == Entering::kNothing;
  const std::uint64_t level = excluded ? 1 : is_region(decision.word) ? 3 : 2;
  if (decision.word == kOwn || rules().said < level) return;
  const char* what = excluded ? "left out with its calls" : level == 3 ? "recorded" : "left out";
  print_line(region.canonical_name + " (" + region.file + ":" + std::to_string(region.first_line) +
             "): " + what);
}

bool hides_engine(const Region& region) {
  return !rules().engine_functions && is_of_engine(region.group, region.file) &&
         !rules().filter.has_rule_for(region);
}

// `region` gets its last name where it is recorded.
Decision decide_region(PyCodeObject* code, Region& region) {
  const RegionStyle& style = region_style();
  if (is_own_file(region.file) || rules().filter.hidden_import(region)) return {kOwn};
  if (style.hides(region.canonical_name)) return {};
  const Verdict verdict = rules().search.of(utf8_text(code->co_name), utf8_text(code->co_filename));
  if (verdict == Verdict::kCalls) return {kExcluded, Entering::kNothing};
  if (verdict == Verdict::kFile) return {kExcludedFile};
  if (verdict == Verdict::kFunction || excludes(region) || hides_engine(region)) return {};
  region.last_line = last_line_of(code);
  style.finish(region);
  const LabelParts& parts = rules().label;
  if (style.label != nullptr && parts.qualified) region.name = utf8_text(code->co_qualname);
  Region labelled = region;
  if (style.label != nullptr) labelled.name = style.label(parts, region, {});
  const bool by_call = style.label != nullptr && parts.arguments;
  return {record::enter_word(record::region_id(labelled)),
          by_call ? Entering::kArguments : Entering::kWord};
}

// Without a look at the calling thread, which may be one of ours.
EventWord decide(PyCodeObject* code, PyObject* globals) noexcept {
  g_registrations.fetch_add(1, std::memory_order_relaxed);
  const ErrorGuard guard;
  const CriticalSection critical;
  try {
    Region region = code_region(code, globals);
    const Decision decision = decide_region(code, region);
    if (rules().said != 0) print_decision(region, decision);
    EventWord word = decision.word;
    const std::string& name = region_style().label == nullptr ? region.name : region.canonical_name;
    if (!is_own_file(region.file) && watch(code, name, word, decision.entering, region))
      word = kWatched;
    store_code_extra(code, code_index(), word);
    return word;
  } catch (const std::exception&) {
    return kExcluded;  // out of memory: this call is not recorded, the next may be
  }
}

}  // namespace

EventWord decide_word(PyCodeObject* code, PyObject* globals) noexcept {
  const RegistrationTimer timer;
  const ErrorGuard guard;
  const CriticalSection critical;
  if (g_on_new_code != nullptr) g_on_new_code();
  look_for_greenlets();
  return decide(code, globals);
}

EventWord decide_in_sub_interpreter(PyCodeObject* code, PyObject* globals,
                                    Py_ssize_t index) noexcept {
  const RegistrationTimer timer;
  g_registrations.fetch_add(1, std::memory_order_relaxed);
  const ErrorGuard guard;
  try {
    EventWord word = kExcluded;
    if (globals != nullptr) {
      Region region = code_region(code, globals);
      const Decision decision = decide_region(code, region);
      if (rules().said != 0) print_decision(region, decision);
      word = decision.word;
    }
    store_code_extra(code, index, word);
    return word;
  } catch (const std::exception&) {
    return kExcluded;  // as above
  }
}

void enter_code(PyCodeObject* code, EventWord word) noexcept {
  const Py_ssize_t index = code_index();  // the program's code may run before we keep the word
  const std::uint64_t ready = ready_from() | word;
  if (load_code_extra(code, index) == ready) {
    return record::t_recorder->enter(token_of(code), word);
  }
  const RegistrationTimer timer;
  if (known_word(code) == kThrottledCode) return;  // by another thread, meanwhile
  if (!record::enter_region(token_of(code), word)) return;
  const CriticalSection critical;
  store_code_extra(code, index, ready);
}

namespace {

void define_decided_code(PyCodeObject* code) noexcept {
  EventWord word = known_word(code);
  if (word == kWatched && !rules().sampled) return;  // its calls are recorded, and watched
  word = word_of_open_call(code, word);
  if (!is_region(word) || kept_word(code) == (ready_from() | word)) return;
  const RegistrationTimer timer;
  record::define(RegionId{payload_of(word)});
  const CriticalSection critical;
  store_code_extra(code, code_index(), ready_from() | word);
}

}  // namespace

void define_code(PyCodeObject* code, PyObject* globals) noexcept {
  if (known_word(code) == 0) decide_word(code, globals);
  define_decided_code(code);
}

void define_code_elsewhere(PyCodeObject* code, PyObject* globals) noexcept {
  if (known_word(code) == 0) {
    const RegistrationTimer timer;
    decide(code, globals);
  }
  define_decided_code(code);
}

bool is_own_file(const std::string& file) {
  const std::string& packages = rules().packages;
  return !packages.empty() && file.starts_with(packages) &&
         std::ranges::any_of(kOwnPackages, [&](std::string_view package) {
           return std::string_view(file).substr(packages.size()).starts_with(package);
         });
}

bool set_rules(const RegionRules& wanted) {
  auto& all = all_rules();
  auto same = std::ranges::find_if(all, [&](const auto& known) { return known->rules == wanted; });
  if (same == all.end()) {
    const Py_ssize_t index = new_code_extra_index();
    if (index < 0) return false;
    all.push_back(std::make_unique<const Rules>(Rules{wanted, index}));
    same = all.end() - 1;
  }
  g_rules = same->get();
  g_keeping.index = (*same)->index;
  const FilterChoices& choices = wanted.filter.choices();
  g_leave_out = !choices.rules.empty() || choices.only_my_code || !choices.file.empty() ||
                !wanted.search.empty();
  return true;
}

}  // namespace timeloom::python
