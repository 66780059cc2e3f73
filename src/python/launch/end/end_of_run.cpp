#include "python/launch/end/end_of_run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "core/mpi/mpi_rank.hpp"
#include "core/text/message_id.hpp"
#include "core/text/shell_word.hpp"
#include "python/interpreter/errors.hpp"
#include "python/interpreter/print_line.hpp"
#include "python/launch/end/at_exit.hpp"
#include "python/launch/end/engine_end.hpp"
#include "python/launch/end/other_end.hpp"
#include "python/launch/end/summary_text.hpp"
#include "python/launch/end/weave_process.hpp"
#include "python/launch/follow.hpp"
#include "python/launch/main_module.hpp"
#include "python/launch/measure.hpp"
#include "python/launch/mpi_notes.hpp"
#include "python/observe/engines/spark_times.hpp"
#include "python/session/session.hpp"
#include "record/measurement.hpp"
#include "run/spawned_group.hpp"

namespace timeloom::python {
namespace {

// State of the start, kept because the program may change all of it.
struct Start {
  pid_t process = 0;
  std::string directory;
  std::string package;
  struct stat error_output {};
  bool has_error_output = false;
  bool weave = true;
  bool keep_spool = false;
  bool quiet = false;
  bool always_prints_losses = false;
  bool left = false;  // as it is: nothing can be finished
  struct stat root {};
  std::shared_ptr<PlannedRun> planned;  // null: the run is finished
  std::string mpi_option;               // see expect_mpi()
};
Start* g_start = nullptr;

// Descriptor 2 may be closed or belong to a file of the program by now.
bool error_output_unchanged() {
  struct stat now {};
  return g_start->has_error_output && ::fstat(STDERR_FILENO, &now) == 0 &&
         now.st_dev == g_start->error_output.st_dev && now.st_ino == g_start->error_output.st_ino;
}

void flush(const char* name, const char* original) {
  PyObject* stream = PySys_GetObject(name);  // borrowed
  if (stream == nullptr || stream == Py_None || stream != PySys_GetObject(original)) return;
  Ref result(PyObject_CallMethod(stream, "flush", nullptr));
  if (!result) PyErr_Clear();  // python will report it when it flushes at its end
}

void write_all(int file, const std::string& text) {
  flush("stdout", "__stdout__");
  flush("stderr", "__stderr__");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    written += static_cast<std::size_t>(n);
  }
}

void write_error_output(const std::string& text) {
  if (error_output_unchanged()) write_all(STDERR_FILENO, text);
}

// The run as the user can write it in the directory where the program started.
std::string word_of_run(const std::string& run) {
  std::string word = run;
  if (word.starts_with(g_start->directory + "/")) word.erase(0, g_start->directory.size() + 1);
  if (word.starts_with('-')) word.insert(0, "./");
  return shell_word(word);
}

// Nothing: it is not to be woven, or there is nothing left.
std::optional<WeaveResult> weave_run(const SessionResult& result, bool more_ranks) {
  if (result.error == ENOENT || !g_start->weave) return std::nullopt;
  const bool silent = g_start->quiet && !g_start->always_prints_losses;
  return weave_in_child(
      result.run, g_start->package,
      {g_start->keep_spool, silent || !error_output_unchanged(), more_ranks, result.id});
}

// Paths of the run lead elsewhere then.
bool root_has_changed() {
  struct stat now {};
  return ::stat("/", &now) != 0 || now.st_dev != g_start->root.st_dev ||
         now.st_ino != g_start->root.st_ino;
}

// The line of the summary about the weaving; empty when all is well.
std::string weaving_text(const SessionResult& result, const std::optional<WeaveResult>& woven) {
  if (result.error == ENOENT && root_has_changed()) {
    return "not woven: the program has changed its root directory (chroot); the next command "
           "outside of that does it [TL049]";
  }
  if (result.error == ENOENT) {
    return "not woven: the run was removed or renamed meanwhile [TL020]";
  }
  if (!woven) return "not woven yet; the next command does it";
  switch (woven->outcome) {
    case WeaveOutcome::kDone: break;
    case WeaveOutcome::kNoProgram:
      return "not woven: the program timeloom was not found; its next command does it [TL047]";
    case WeaveOutcome::kFailed:
      return "not woven: timeloom weave " + word_of_run(result.run) +
             " failed; everything recorded is still in the run [TL045]";
  }
  return {};
}

// The run gets its final name when nothing writes to it any more.
class RunEnd {
 public:
  explicit RunEnd(std::shared_ptr<PlannedRun> planned) : planned_(std::move(planned)) {}
  ~RunEnd() { finish(); }
  RunEnd(const RunEnd&) = delete;
  RunEnd& operator=(const RunEnd&) = delete;

  // Where the results are from now on.
  std::string finish() {
    if (!planned_) return {};
    try {
      if (!std::exchange(finished_, true)) planned_->finish();
    } catch (const std::exception& error) {
      write_error_output(line_start() + error.what() + "\n");
    }
    return planned_->path();
  }
  // A line about ranks that are not in it; empty: there are none.
  std::string missing() const {
    const std::string text = planned_ ? planned_->missing() : std::string();
    return text.empty() ? text : line_start() + text + "\n";
  }

 private:
  std::shared_ptr<PlannedRun> planned_;
  bool finished_ = false;
};

// Whether another rank, or a spawned process, is still to end, which then sees to everything else.
bool others_go_on() {
  PlannedRun* const planned = g_start->planned.get();
  if (planned == nullptr) return false;
  if (planned->is_last() && (planned->rank() || run::end_group(planned->directory(), 0)))
    return false;
  if (const std::string word = planned->unwoven_message(); !word.empty() && !g_start->quiet) {
    write_error_output(line_start() + word + ": timeloom report " + word_of_run(planned->path()) +
                       " [TL244]\n");
  }
  g_start->planned.reset();
  return true;
}

// `ranks`: the run is one of several.
void weave_and_report(SessionResult& result, RunEnd& end, bool ranks) {
  std::string others = others_in(result.run, ranks);  // the spools are gone after weaving
  std::string left_out = unmeasured(result.run);
  const std::optional<WeaveResult> woven = weave_run(result, !end.missing().empty());
  if (woven && !woven->engine.empty()) left_out += line_start() + woven->engine + "\n";
  left_out += throttled(result, woven);
  if (woven && woven->counts && (woven->counts->processes > 1 || result.events == 0)) {
    const std::string of_all = count_all_processes(result, *woven->counts);
    if (woven->counts->processes > 1) others = of_all;
  }
  // Forks that have called nothing have spools, and are not processes of the run.
  if (!ranks && woven && woven->counts && woven->counts->processes == 1) others.clear();
  if (woven && !woven->printed.empty()) write_all(STDOUT_FILENO, woven->printed);
  const std::string final_path = end.finish();
  if (!final_path.empty()) result.run = final_path;
  const std::string ranks_missing = end.missing();  // which names the run
  left_out += ranks_missing;
  const std::string weaving = weaving_text(result, woven);
  const bool complain = (g_start->weave || result.error == ENOENT) && !weaving.empty();
  if (!g_start->quiet) {
    const std::string finding = woven ? woven->finding : std::string();
    write_error_output(
        summary(result, {others, left_out, finding, weaving, word_of_run(result.run)}));
  } else {
    const std::string lost =
        g_start->always_prints_losses ? losses(result) + ranks_missing : std::string();
    write_error_output(lost + (complain ? line_start() + weaving + "\n" : ""));
  }
}

constexpr char kRestricted[] =
    "not woven: the program has forbidden itself calls of the system (seccomp); the next command "
    "does it [TL048]";

void print_missing_mpi() {
  const std::string option = std::exchange(g_start->mpi_option, {});
  if (option.empty() || !g_start->planned || has_loaded_mpi()) return;
  const std::optional<RankInRun> rank = g_start->planned->rank();
  if (rank && rank->rank != 0) return;
  write_error_output(
      line_start() + option +
      ": the program has loaded no MPI library: there are no calls of MPI [TL033]\n");
}

void convert_as_rank(const SessionResult& result) {
  if (!g_start->weave || !g_start->planned || result.profile || result.error != 0) return;
  const std::optional<RankInRun> rank = g_start->planned->rank();
  const bool shared = rank && !rank->spools.empty() && rank->size > 1;
  if (!shared || result.bytes < kWorthConverting) return;
  convert_in_child(result.spool, rank->size, g_start->package, result.id, g_start->keep_spool);
}

void finish_weave_and_report() {
  if (g_start->left) return;
  if (record::is_restricted()) {
    g_start->left = true;
    leave_session();
    return write_error_output(line_start() + kRestricted + "\n");
  }
  note_spark_times();
  SessionResult result;
  const bool finished = finish_measurement(result);
  if (g_start->weave) end_engines();
  print_missing_mpi();
  if (finished) convert_as_rank(result);
  if (!finished && PyErr_Occurred() != nullptr) {
    write_error_output(line_start() + "the measurement could not be finished: " +
                       std::string(without_id(take_exception_text())) + " [TL046]\n");
  }
  if (others_go_on()) return;
  const bool ranks = g_start->planned && g_start->planned->rank();
  RunEnd end(std::move(g_start->planned));
  if (finished) weave_and_report(result, end, ranks);  // else by the program itself
}

// The process that started it sees to everything else.
void finish_child() {
  if (record::is_restricted()) return leave_session();
  look_for_name_at_end();
  SessionResult ignored;
  finish_session(ignored);
  PyErr_Clear();
}

PyObject* finish_child_run(PyObject*, PyObject*) {
  finish_child();
  Py_RETURN_NONE;
}

PyObject* finish_run(PyObject*, PyObject*) {
  if (::getpid() == g_start->process) {
    finish_weave_and_report();
  } else {
    finish_child();  // forked by the process that was started so
  }
  Py_RETURN_NONE;
}

PyMethodDef g_finish_child_method = {"finish_run", guarded<finish_child_run>, METH_NOARGS, nullptr};
PyMethodDef g_finish_method = {"finish_run", guarded<finish_run>, METH_NOARGS, nullptr};

}  // namespace

// PyRun_String notes how its code ended, for the end of python.
void end_by_interrupt() {
  const record::KeepOff nothing_of_this;
  const Ref names(PyDict_New());
  const Ref result(
      names ? PyRun_String("raise KeyboardInterrupt", Py_file_input, names.get(), names.get())
            : nullptr);
  PyErr_Clear();
}

bool finish_child_at_exit() {
  const Ref function(PyCFunction_New(&g_finish_child_method, nullptr));
  return function && register_at_exit(function.get());
}

void finish_run_now() {
  if (g_start != nullptr && ::getpid() == g_start->process) finish_weave_and_report();
}

bool finish_run_earlier() {
  if (g_start == nullptr) return true;
  const Ref function(PyCFunction_New(&g_finish_method, nullptr));
  return function && register_at_exit(function.get());
}

namespace {

void note_start(const Settings& settings, std::shared_ptr<PlannedRun> planned) {
  g_start = new Start;  // lives as long as the process
  g_start->process = ::getpid();
  char buffer[4096];
  if (::getcwd(buffer, sizeof buffer) != nullptr) g_start->directory = buffer;
  g_start->package = extension_directory();
  g_start->has_error_output = ::fstat(STDERR_FILENO, &g_start->error_output) == 0;
  g_start->weave = settings.flag(kSettings.weave);
  (void)::stat("/", &g_start->root);
  g_start->keep_spool = settings.flag(kSettings.keep_spool);
  g_start->quiet = settings.flag(kSettings.quiet);
  g_start->always_prints_losses = layout_of(settings).always_prints_losses;
  g_start->planned = std::move(planned);
}

// Not by a door, which is quiet since the tool that it stands for prints no summary.
bool user_asks_for_quiet(const Settings& settings) {
  return settings.flag(kSettings.quiet) &&
         settings.origin(kSettings.quiet) != setting_of(kSettings.quiet).name;
}

// Such ends of every rank of a job would print the same line.
void prepare_for_other_ends(const Settings& settings) {
  const PlannedRun* const planned = g_start->planned.get();
  if (user_asks_for_quiet(settings) || planned == nullptr ||
      (planned->rank() && planned->rank()->rank != 0))
    return;
  print_at_other_ends("next: timeloom report " + word_of_run(planned->path()));
}

}  // namespace

void report_run_of_other(const Settings& settings, SessionResult result) {
  note_start(settings, nullptr);
  RunEnd end(nullptr);
  weave_and_report(result, end, false);
}

void expect_mpi(const std::string& option) {
  if (g_start != nullptr) g_start->mpi_option = option;
}

bool finish_run_at_exit(const Settings& settings, std::shared_ptr<PlannedRun> planned) {
  note_start(settings, std::move(planned));
  if (settings.text(kSettings.results) != "none") prepare_for_other_ends(settings);
  Ref function(PyCFunction_New(&g_finish_method, nullptr));
  return function && register_at_exit(function.get());
}

}  // namespace timeloom::python
