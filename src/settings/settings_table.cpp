// The table of settings and what can be asked of it by name.
#include <algorithm>
#include <array>
#include <cctype>

#include "settings/settings.hpp"

namespace timeloom {
namespace {

using enum SettingType;

constexpr std::string_view kRecording = "Recorded regions and events";
constexpr std::string_view kResult = "Where the result goes";
constexpr std::string_view kLimits = "Memory and disk";

constexpr std::array<std::string_view, 6> kInstrumenters = {"auto",    "monitoring", "frame",
                                                            "profile", "trace",      "dummy"};

constexpr std::array<std::string_view, 2> kIo = {"none", "posix"};
constexpr std::array<std::string_view, 2> kThread = {"none", "pthread"};
constexpr std::array<std::string_view, 3> kFollow = {"workers", "all", "none"};
constexpr std::array<std::string_view, 3> kRecordArguments = {"all", "masked", "none"};
constexpr std::array<std::string_view, 3> kAtMaxSize = {"stop", "ring", "profile"};
constexpr std::array<std::string_view, 3> kLayouts = {"timeloom", "scorep", "omnitrace"};
constexpr std::array<std::string_view, 3> kRegionNames = {"qualified", "scorep", "omnitrace"};
constexpr std::array<std::string_view, 2> kTaskLayouts = {"lanes", "locations"};
constexpr std::array<std::string_view, 2> kLocationNameChoices = {"python", "scorep"};
constexpr std::array<std::string_view, 4> kResults = {"all", "trace", "profile", "none"};

constexpr std::array kTable = {
    Setting{"instrumenter", kChoice, "auto", kRecording, "NAME",
            "how Python calls are observed; auto is monitoring from Python 3.12 on, before that "
            "frame, or profile with c-functions; dummy observes none",
            kInstrumenters},
    Setting{"paused", kBool, "off", kRecording, "",
            "begin with the instrumentation off; timeloom.start() switches it on, and user "
            "regions are recorded all the same"},
    Setting{"c-functions", kBool, "off", kRecording, "", "record calls of C functions, too"},
    Setting{"async-tasks", kBool, "off", kRecording, "",
            "record every task of asyncio or trio as a track of its own, with the time it is "
            "suspended; by monitoring or frame"},
    Setting{
        "task-layout", kChoice, "lanes", kRecording, "LAYOUT",
        "where async-tasks puts them: lanes are locations that tasks share which do not overlap; "
        "with locations each task is one, connected with what created it",
        kTaskLayouts},
    Setting{"profile", kBool, "off", kRecording, "",
            "fold calls into a call-path profile while the program runs, instead of recording a "
            "trace; small, however long that takes"},
    Setting{"profile-depth", kInteger, "0", kRecording, "N",
            "levels of calls that the call-path profile keeps apart, also that of a trace; deeper "
            "ones are counted together; 0 is any number"},
    Setting{"exclude", kList, "", kRecording, "PATTERN",
            "do not record functions whose module.qualname matches, or whose file matches a "
            "pattern that has a /; what they call is recorded; can be repeated"},
    Setting{"include", kList, "", kRecording, "PATTERN",
            "record matching functions; of all rules the last that matches decides; when the "
            "first rule is an include, nothing else is recorded"},
    Setting{"filter-file", kString, "", kRecording, "FILE",
            "leave out what a filter file of Score-P names (docs/filter.md)"},
    Setting{"function-restrict", kString, "", kRecording, "EXPRESSIONS",
            "record only functions in whose name one of these regular expressions is found, one a "
            "line (docs/filter.md)"},
    Setting{"function-include", kString, "", kRecording, "EXPRESSIONS",
            "record functions in whose name one of these is found, whatever the others say"},
    Setting{"function-exclude", kString, "", kRecording, "EXPRESSIONS",
            "record no functions in whose name one of these is found, nor what they call"},
    Setting{"module-restrict", kString, "", kRecording, "EXPRESSIONS",
            "record only functions in the path of whose file one of these is found"},
    Setting{"module-include", kString, "", kRecording, "EXPRESSIONS",
            "record functions in the path of whose file one of these is found, whatever "
            "module-exclude says"},
    Setting{"module-exclude", kString, "", kRecording, "EXPRESSIONS",
            "record no functions in the path of whose file one of these is found"},
    Setting{"say-filtered", kInteger, "0", kRecording, "N",
            "say on stderr, once for each function, what these expressions leave out: 1 what is "
            "excluded with its calls, 2 all; 3 also what is recorded"},
    Setting{"only-my-code", kBool, "off", kRecording, "",
            "of what no include or exclude matches, record neither Python's library nor installed "
            "packages"},
    Setting{"imports", kBool, "off", kRecording, "",
            "record what importing itself does, too: functions of importlib, zipimport, encodings, "
            "runpy"},
    Setting{"max-depth",
            kInteger,
            "",
            kRecording,
            "N",
            "record calls only as deep as that on a thread",
            {},
            0,
            1,
            1'000'000'000},
    Setting{"overhead", kString, "", kRecording, "SHARE",
            "the share of CPU time that measuring may take (5%): functions that are called often "
            "and briefly are found while the program runs, and timed no longer (docs/overhead.md)"},
    Setting{"waiting", kBool, "on", kRecording, "",
            "measure how long threads wait: where one records nothing for 100 us, the time in "
            "which it did not run"},
    Setting{"metric-rusage", kString, "", kRecording, "NAMES",
            "sample these counters of getrusage at every enter and leave of a thread: ru_utime and "
            "others with commas between, or all (docs/metrics.md)"},
    Setting{"metric-rusage-per-process", kString, "", kRecording, "NAMES",
            "the same of the whole process, at those of its first thread"},
    Setting{"metric-rusage-sep", kString, ",", kRecording, "TEXT",
            "the separator between names of getrusage"},
    Setting{"metric-papi", kString, "", kRecording, "EVENTS",
            "count these events of PAPI, and sample them at every enter and leave of a thread"},
    Setting{"metric-papi-per-process", kString, "", kRecording, "EVENTS",
            "the same for the first thread of each process only"},
    Setting{"metric-papi-sep", kString, ",", kRecording, "TEXT",
            "the separator between events of PAPI"},
    Setting{"io", kChoice, "none", kRecording, "WHAT",
            "record input and output: posix are the calls of the system and of C for files, with "
            "their bytes (docs/wrappers.md)",
            kIo},
    Setting{"thread", kChoice, "none", kRecording, "WHAT",
            "record threads of native code: pthread are those of POSIX, from their creation to "
            "their end, named after the library that they run in (docs/wrappers.md)",
            kThread},
    Setting{"thread-locks",
            kInteger,
            "",
            kRecording,
            "N",
            "with thread=pthread: record calls for mutexes and conditions that take N microseconds "
            "or more, too; 0 is all",
            {},
            0,
            0,
            1'000'000'000},
    Setting{"mpi", kBool, "off", kRecording, "", "record calls of MPI"},
    Setting{"gpu", kBool, "off", kRecording, "",
            "record what runs on NVIDIA's GPUs, and the calls of CUDA that start it (docs/gpu.md)"},
    Setting{"follow", kChoice, "workers", kRecording, "CHILDREN",
            "which child processes are recorded, too: workers are those that are forked or "
            "started by multiprocessing, concurrent.futures or joblib; all adds every other "
            "Python that the program starts",
            kFollow},
    Setting{"record-arguments", kChoice, "masked", kRecording, "WHICH",
            "what the run keeps of the program's command line: masked replaces what looks like a "
            "secret by *** (docs/run.md), none keeps the name of the program only",
            kRecordArguments},
    Setting{"from", kString, "", kRecording, "WHEN",
            "record from here on: a time since the start (500ms, 2.5s) or a region "
            "(__main__.train), each time that it is entered"},
    Setting{"until", kString, "", kRecording, "WHEN",
            "record until then: a time, or a region, when it is left"},
    Setting{"after", kInteger, "0", kRecording, "N",
            "pass over the first N calls of the region of --from"},
    Setting{"region-names", kChoice, "qualified", kRecording, "STYLE",
            "how functions are called: qualified is module.qualname, scorep module.Class:name as "
            "the Python bindings of Score-P do, with user:name for user regions, omnitrace the "
            "bare name with what label says",
            kRegionNames},
    Setting{"label", kString, "", kRecording, "PARTS",
            "parts of the names of region-names=omnitrace, with commas between: args, file, line, "
            "path (the whole path of the file), qualname"},
    Setting{"location-names", kChoice, "python", kRecording, "NAMES",
            "how other tools see threads and processes: python is the names that Python has for "
            "them, scorep Master thread, Orphan thread 1 and Process as with Score-P",
            kLocationNameChoices},
    Setting{"output",
            kString,
            "",
            kResult,
            "DIR",
            "directory of the run; without it timeloom-PROGRAM-DATE-TIME in the current directory",
            {},
            'o'},
    Setting{"force", kBool, "off", kResult, "", "replace the run that is in the output directory"},
    Setting{"layout", kChoice, "timeloom", kResult, "LAYOUT",
            "scorep makes the run an experiment directory of Score-P, described as the SCOREP_ "
            "variables say, and named so where output is not set; omnitrace puts it into an "
            "output directory of Omnitrace, with the files that the OMNITRACE_ variables ask for",
            kLayouts},
    Setting{"results", kChoice, "all", kResult, "WHAT",
            "results of the run: all is trace and profile; with none nothing is "
            "recorded",
            kResults},
    Setting{"weave", kBool, "on", kResult, "",
            "make trace and tables when the program ends; otherwise the first command that opens "
            "the run does"},
    Setting{"keep-spool", kBool, "off", kResult, "", "keep the raw records after weaving"},
    Setting{"quiet", kBool, "off", kResult, "", "print no summary at the end"},
    Setting{"buffer-size",
            kSize,
            "4M",
            kLimits,
            "SIZE",
            "memory for records that are not yet on disk; grows when the disk is slow",
            {},
            0,
            1 << 20,
            std::uint64_t{1} << 40},
    Setting{"max-size",
            kSize,
            "",
            kLimits,
            "SIZE",
            "limit of the space on disk for raw records, of all processes of the run together",
            {},
            0,
            4 << 20},
    Setting{"at-max-size", kChoice, "stop", kLimits, "POLICY",
            "at that size stop ends the recording, ring drops the oldest events for the newest, "
            "profile folds calls into a call-path profile from there on",
            kAtMaxSize},
};

// Number of letters to insert, delete, replace or swap (Damerau-Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::span<const Setting> all_settings() noexcept { return kTable; }

const Setting* find_setting(std::string_view name) noexcept {
  const auto found = std::ranges::find(kTable, name, &Setting::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::string variable_of(const Setting& setting) {
  std::string name = "TIMELOOM_";
  for (const char c : setting.name) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const bool begins = name.size() >= 3 && candidate.starts_with(name);
    const std::size_t d = begins ? 1 : distance(name, candidate);
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

std::string_view nearest_setting(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Setting& setting : kTable) {
    names.push_back(setting.name);
  }
  return nearest_name(name, names);
}

}  // namespace timeloom
