// Writes the events of one location into its event file.
//
// Owned by its opener, used by one thread at a time. Holds one chunk of the file in memory and adds
// its counts to the archive's `Written` at finish(). Throws Error.
#pragma once

#include "core/event.hpp"
#include "core/waiting_metric.hpp"
#include "formats/otf2/calling_contexts.hpp"
#include "formats/otf2/otf2_library.hpp"
#include "formats/otf2/read/event_files.hpp"
#include "formats/otf2/string_table.hpp"

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace timeloom::otf2 {

// The first of the communicators in which threads create and await each other.
inline constexpr OTF2_CommRef kThreads = 0;

// The class that the values of a metric go to, and the metric's index among the class's members.
struct MetricMember {
  OTF2_MetricRef metric_class = 0;
  std::uint8_t member = 0;
  std::uint8_t members = 1;
};

// Data shared by all location writers of an archive. Filled before the first of them is opened,
// except for `strings` and `contexts`, which lock by themselves.
struct OriginalReferences;  // original_archive.hpp
struct Shared {
  OTF2_Archive* archive = nullptr;
  std::string what;             // begins every error: "cannot write the trace …"
  std::filesystem::path files;  // the directory of the files of locations
  const Definitions* definitions = nullptr;
  StringTable strings;
  OTF2_AttributeRef offset_attribute = 0;  // follows the archive's own
  // The first of the attributes of calls that allocate memory, which follow each other.
  OTF2_AttributeRef memory_attribute = 0;
  StringTable io_files;                           // paths; their references as files are one less
  std::vector<OTF2_StringRef> string_references;  // by StringId
  struct Program {
    OTF2_StringRef name = 0;
    std::vector<OTF2_StringRef> arguments;
  };
  std::vector<Program> programs;      // by LocationGroupId
  std::vector<MetricMember> metrics;  // by MetricId
  bool threads_by_process = false;    // see thread_writer.hpp
  mutable std::atomic<bool> has_thread_events = false;
  OTF2_CommRef first_communicator = kThreads + 1;  // of MPI
  OTF2_CommRef first_team = kThreads + 1;          // of teams of threads, behind those
  OTF2_CommRef first_window = kThreads + 1;        // of windows, behind those; see copy_writer.hpp
  std::vector<std::vector<LocationId>> windows;    // their members
  struct PlaceInWindow {
    std::uint32_t window = 0;
    std::uint32_t host = 0;  // the place of its feeder among the members
  };
  std::map<LocationId, PlaceInWindow> places_in_windows;  // of queues
  // Instances of the metric classes of processes, on locations for them.
  std::map<std::pair<LocationId, OTF2_MetricRef>, OTF2_MetricRef> metric_instances;
  // Of an archive that gets the definitions of another tool back; else null.
  const OriginalReferences* original = nullptr;
  OTF2_AttributeRef process_attribute = 0;  // of ProgramBegin
  std::optional<CallingContexts> contexts;  // of an archive with samples
  std::vector<EventFiles> taken;
  std::size_t largest_table = 0;  // of the tables for their references, upper limit in bytes
};

// Numbers classes and instances without gaps, as readers require.
void number_metrics(Shared& shared);

inline constexpr OTF2_AttributeRef kProcessIdAttribute = 0;
inline constexpr OTF2_AttributeRef kThreadIdAttribute = 1;
// Attribute of an enter or leave: nanoseconds that the innermost region had waited before it.
inline constexpr OTF2_AttributeRef kWaitingAttribute = 2;
// The same by WaitingCause, for those that are known: parts of it. Their references follow.
inline constexpr OTF2_AttributeRef kFirstCauseAttribute = kWaitingAttribute + 1;
inline constexpr std::size_t kCauseAttributes = kWaitingCauses - 1;
// Attribute of the start of a transfer: the position in the file. See Shared::offset_attribute.
inline constexpr char kOffsetName[] = "Offset";
inline constexpr char kWaitingName[] = "timeloom::waiting";
inline std::string cause_attribute_name(std::size_t cause) {
  return std::string(kWaitingName) + "_" + kCauseWords[cause];
}

// Counts of the events written so far; any thread may add to them.
class Written {
 public:
  void add(LocationId location, const EventCount& count);
  bool has(LocationId location) const { return counts_.contains(location); }
  const EventCount& of(LocationId location) const { return counts_.at(location); }
  // Counts of all locations.
  const EventCount& all() const { return all_; }

 private:
  std::mutex mutex_;
  std::map<LocationId, EventCount> counts_;
  EventCount all_;
};

inline OTF2_IoFileRef io_file(Shared& shared, const std::string& path) {
  (void)shared.strings.intern(path);  // the path that names it
  return shared.io_files.intern(path) - 1;
}

std::unique_ptr<LocationSink> open_location_writer(Shared& shared, Written& written,
                                                   const Location& location);

}  // namespace timeloom::otf2
