#include "formats/otf2/definition_writer.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/run_properties.hpp"
#include "core/text/joined.hpp"
#include "formats/otf2/global_definitions.hpp"
#include "formats/otf2/local_definitions.hpp"
#include "formats/otf2/original_archive.hpp"

namespace timeloom::otf2 {

namespace {

constexpr std::uint64_t kSmallestWrittenChunk = 256u << 10;
constexpr std::uint64_t kLargestWrittenChunk = 16u << 20;

// The defined time of the run, widened so that it contains every event and marker.
Epoch epoch_of(const Definitions& definitions, const Written& written) {
  const ClockProperties& clock = definitions.clock;
  std::uint64_t first = clock.begin;
  std::uint64_t last = clock.begin + clock.length;
  const auto widen = [&](std::uint64_t from, std::uint64_t to) {
    first = std::min(first, from);
    last = std::max(last, to);
  };
  if (written.all().first <= written.all().last) widen(written.all().first, written.all().last);
  for (const Marker& marker : definitions.markers) widen(ticks(marker.time), ticks(marker.time));
  Epoch epoch{first, last - first, OTF2_UNDEFINED_TIMESTAMP};
  if (clock.realtime) {
    const double earlier = static_cast<double>(clock.begin - first) * 1e9 /
                           static_cast<double>(clock.ticks_per_second);
    const auto shift = static_cast<std::uint64_t>(std::llround(earlier));
    epoch.realtime = *clock.realtime - std::min(shift, *clock.realtime);
  }
  return epoch;
}

// The library accepts letters, digits and '_' behind a name space, in upper case.
std::string written_property_name(const std::string& name) {
  const auto clean = [](std::string part) {
    for (char& c : part) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 128 || (std::isalnum(byte) == 0 && c != '_')) c = '_';
    }
    return part.empty() ? std::string("_") : part;
  };
  const std::size_t colons = name.find("::");
  if (colons == std::string::npos) return "timeloom::" + clean(name);
  return clean(name.substr(0, colons)) + "::" + clean(name.substr(colons + 2));
}

std::string float_parameters(const Definitions& definitions) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < definitions.parameters.size(); ++i) {
    if (definitions.parameters[i].type == ParameterType::kFloat)
      numbers.push_back(std::to_string(i));
  }
  return joined(numbers, ",");
}

void write_properties(const Shared& shared) {
  // An event kind that is not recorded counts as incomplete, whatever the program did. Sources that
  // have counted messages record so in the properties of the run.
  std::map<std::string, std::string> properties = {
      {kMessagesComplete, "false"},
      {"OTF2::THREAD_FORK_JOIN_EVENT_COMPLETE", "false"},
      {"OTF2::THREAD_CREATE_WAIT_EVENT_COMPLETE", "false"},
      {"OTF2::THREAD_LOCK_EVENT_COMPLETE", "false"},
      {"OTF2::PTHREAD_LOCATION_REUSED", "false"}};
  for (const auto& [name, value] : shared.definitions->properties) {
    if (!value.empty()) properties[written_property_name(name)] = value;
  }
  if (std::string floats = float_parameters(*shared.definitions); !floats.empty()) {
    properties[kFloatParameters] = std::move(floats);
  }
  for (const auto& [name, value] : properties) {
    check(OTF2_Archive_SetProperty(shared.archive, name.c_str(), value.c_str(), true),
          shared.what + ", property '" + name + "'");
  }
}

std::uint64_t contexts_of(const Shared& shared) {
  return shared.contexts ? shared.contexts->nodes().size() + shared.contexts->places().size() : 0;
}

// An upper limit for the bytes of the global definitions and the markers.
std::uint64_t most_bytes(const Shared& shared) {
  constexpr std::uint64_t kRecord = 128;  // without texts and members of groups
  const Definitions& all = *shared.definitions;
  const std::uint64_t records = all.regions.size() + all.groups.size() + all.locations.size() +
                                all.metrics.size() + all.parameters.size() +
                                2 * all.io_handles.size() + shared.io_files.strings().size() +
                                shared.strings.strings().size() + contexts_of(shared);
  std::uint64_t texts = 0;
  for (const std::string& text : shared.strings.strings()) texts += text.size();
  std::uint64_t markers = 0;
  for (const Marker& marker : all.markers) markers += marker.text.size() + kRecord;
  return std::max(3 * records * kRecord + texts, markers);
}

// As small as possible, since readers hold a chunk in memory for each location. Either the longest
// record fits, or all of them, see kEventChunk in writer.cpp.
std::uint64_t chunk_size_for(const Shared& shared) {
  std::size_t members =
      std::max(shared.definitions->regions.size(), shared.definitions->locations.size());
  for (const Communicator& one : shared.definitions->communicators) {
    members = std::max(members, one.members.size());  // ranks, which need not be recorded
  }
  const std::size_t group = std::min(kGroupMembers, members) * 9;
  std::uint64_t needed =
      std::max<std::uint64_t>({shared.strings.longest(), group, shared.largest_table}) + 1024;
  if (most_bytes(shared) >= kUnbufferedWrite) needed = std::max(needed, kUnbufferedWrite);
  const std::uint64_t chunks = (needed + kSmallestWrittenChunk - 1) / kSmallestWrittenChunk;
  return std::min(chunks * kSmallestWrittenChunk, kLargestWrittenChunk);
}

}  // namespace

void intern_strings(Shared& shared) {
  for (const std::string& text : shared.definitions->strings) {
    shared.string_references.push_back(shared.strings.refer(text));
  }
  for (const LocationGroup& group : shared.definitions->groups) {
    Shared::Program program{shared.strings.refer(group.executable), {}};
    for (const std::string& argument : group.arguments) {
      program.arguments.push_back(shared.strings.refer(argument));
    }
    shared.programs.push_back(std::move(program));
  }
  intern_names(shared);
  number_metrics(shared);
}

void write_definitions(Shared& shared, const Written& written, const OriginalArchive* original) {
  const Epoch epoch = epoch_of(*shared.definitions, written);
  if (original != nullptr) {
    write_local_definitions(shared, epoch);
    OTF2_GlobalDefWriter* writer =
        check(OTF2_Archive_GetGlobalDefWriter(shared.archive), shared.what);
    original->copy_definitions(writer, shared.what);
    check(OTF2_Archive_CloseGlobalDefWriter(shared.archive, writer), shared.what);
    return;
  }
  check(OTF2_Archive_SetDefChunkSize(shared.archive, chunk_size_for(shared)), shared.what);
  write_local_definitions(shared, epoch);
  write_properties(shared);
  write_global_definitions(shared, written, epoch);
}

void write_markers(const std::filesystem::path& anchor, const Shared& shared) {
  if (shared.definitions->markers.empty()) return;
  const std::unique_ptr<OTF2_Reader, decltype(&OTF2_Reader_Close)> reader(
      check(OTF2_Reader_Open(anchor.c_str()), shared.what), &OTF2_Reader_Close);
  check(OTF2_Reader_SetSerialCollectiveCallbacks(reader.get()), shared.what);
  OTF2_MarkerWriter* writer = check(OTF2_Reader_GetMarkerWriter(reader.get()), shared.what);
  check(OTF2_MarkerWriter_WriteDefMarker(writer, 0, "Timeloom", "marker", OTF2_SEVERITY_NONE),
        shared.what);
  for (const Marker& marker : shared.definitions->markers) {
    const std::string text = writable(marker.text, kSmallestWrittenChunk - 1024);
    const bool local = marker.location.defined();
    check(OTF2_MarkerWriter_WriteMarker(
              writer, ticks(marker.time), 0, 0,
              local ? OTF2_MARKER_SCOPE_LOCATION : OTF2_MARKER_SCOPE_GLOBAL,
              local ? marker.location.value() : OTF2_UNDEFINED_UINT64, text.c_str()),
          shared.what);
  }
  check(OTF2_Reader_CloseMarkerWriter(reader.get(), writer), shared.what);
}

}  // namespace timeloom::otf2
