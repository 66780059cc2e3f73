#include "formats/otf2/local_definitions.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <system_error>

#include "core/error.hpp"
#include "core/memory/memory_attributes.hpp"

namespace timeloom::otf2 {

namespace {

using LocalTable = std::vector<std::uint32_t>;  // references of this archive, by the references in
                                                // the events

LocalTable same(std::size_t count) {
  LocalTable table(count);
  std::iota(table.begin(), table.end(), 0u);
  return table;
}

// One layout has a communicator for the threads of each process, the others one for all.
LocalTable communicators_of(const EventFiles::Meaning& meaning, const EventFiles& files,
                            const Shared& shared) {
  LocalTable table = same(meaning.references.first_communicator);
  if (shared.threads_by_process && !table.empty()) {
    table.front() = kThreads + files.process.value();
  }
  for (const std::uint32_t id : meaning.communicators) {
    table.push_back(shared.first_communicator + id);
  }
  return table;
}

LocalTable attributes_of(const EventFiles::Meaning& meaning, const Shared& shared) {
  const EventReferences& there = meaning.references;
  LocalTable table = same(there.offset_attribute);
  table.push_back(shared.offset_attribute);
  table.resize(there.memory_attribute);
  for (std::uint32_t i = 0; i < kMemoryAttributes; ++i) {
    table.push_back(shared.memory_attribute + i);
  }
  return table;
}

LocalTable metrics_of(const EventFiles::Meaning& meaning, const Shared& shared) {
  LocalTable table;
  for (const EventReferences::MetricClass& one : meaning.references.metrics) {
    if (table.size() <= one.reference) table.resize(one.reference + 1);
    const OTF2_MetricRef metric_class = shared.metrics.at(one.first).metric_class;
    const auto instance = shared.metric_instances.find({one.instance, metric_class});
    const bool of_process = instance != shared.metric_instances.end();
    table[one.reference] = of_process ? instance->second : metric_class;
  }
  return table;
}

class LocalDefinitions {
 public:
  LocalDefinitions(Shared& shared, const Epoch& epoch) : shared_(shared), epoch_(epoch) {}

  // The files of a process are equal, and so are the files of all locations that were written here.
  // So the library, which clears a whole chunk for each file, writes only the first.
  void write() {
    ok(OTF2_Archive_OpenDefFiles(shared_.archive));
    std::vector<std::vector<LocationId>> equal(1);
    std::set<LocationId> taken;
    for (const EventFiles& files : shared_.taken) {
      write_taken(files);
      equal.emplace_back();
      for (const EventFiles::File& file : files.files) {
        equal.back().push_back(file.here);
        taken.insert(file.here);
      }
    }
    for (const Location& location : shared_.definitions->locations) {
      if (!taken.contains(location.id)) equal.front().push_back(location.id);
    }
    if (!equal.front().empty()) write_own(equal.front().front());
    ok(OTF2_Archive_CloseDefFiles(shared_.archive));
    for (const std::vector<LocationId>& locations : equal) repeat_first(locations);
  }

 private:
  using Map = std::unique_ptr<OTF2_IdMap, decltype(&OTF2_IdMap_Free)>;

  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }

  OTF2_DefWriter* open(LocationId location) const {
    return check(OTF2_Archive_GetDefWriter(shared_.archive, location.value()), shared_.what);
  }

  // Events use references of the archive, and one clock: the offset is 0 at the start and the end.
  void write_own(LocationId location) const {
    OTF2_DefWriter* const writer = open(location);
    const std::uint64_t end = epoch_.begin + std::max<std::uint64_t>(epoch_.length, 1);
    ok(OTF2_DefWriter_WriteClockOffset(writer, epoch_.begin, 0, 0));
    ok(OTF2_DefWriter_WriteClockOffset(writer, end, 0, 0));
    ok(OTF2_Archive_CloseDefWriter(shared_.archive, writer));
  }

  void write_taken(const EventFiles& files) {
    const EventFiles::Meaning meaning = files.meaning();
    OTF2_DefWriter* const writer = open(files.files.front().here);
    LocalTable io_files;
    for (const std::string& path : meaning.references.io_files) {
      io_files.push_back(io_file(shared_, path));
    }
    write_strings(writer, meaning.references);
    write_table(writer, OTF2_MAPPING_ATTRIBUTE, attributes_of(meaning, shared_));
    write_table(writer, OTF2_MAPPING_REGION, meaning.regions);
    write_table(writer, OTF2_MAPPING_METRIC, metrics_of(meaning, shared_));
    write_table(writer, OTF2_MAPPING_COMM, communicators_of(meaning, files, shared_));
    write_table(writer, OTF2_MAPPING_PARAMETER, meaning.parameters);
    write_table(writer, OTF2_MAPPING_IO_FILE, io_files);
    write_table(writer, OTF2_MAPPING_IO_HANDLE, meaning.io_handles);
    for (const EventFiles::Offset& offset : files.offsets) {
      ok(OTF2_DefWriter_WriteClockOffset(writer, offset.time, offset.added, 0));
    }
    ok(OTF2_Archive_CloseDefWriter(shared_.archive, writer));
  }

  // Many more strings than events refer to.
  void write_strings(OTF2_DefWriter* writer, const EventReferences& references) const {
    const Map map(
        check(OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, references.strings.size()), shared_.what),
        &OTF2_IdMap_Free);
    for (std::size_t i = 0; i < references.strings.size(); ++i) {
      ok(OTF2_IdMap_AddIdPair(map.get(), references.string_references.at(i),
                              shared_.strings.intern(references.strings[i])));
    }
    if (!references.strings.empty()) {
      ok(OTF2_DefWriter_WriteMappingTable(writer, OTF2_MAPPING_STRING, map.get()));
    }
  }

  // Without a table, references are used unchanged.
  void write_table(OTF2_DefWriter* writer, OTF2_MappingType type, const LocalTable& table) const {
    if (table == same(table.size())) return;
    const Map map(
        check(OTF2_IdMap_CreateFromUint32Array(table.size(), table.data(), true), shared_.what),
        &OTF2_IdMap_Free);
    ok(OTF2_DefWriter_WriteMappingTable(writer, type, map.get()));
  }

  void repeat_first(const std::vector<LocationId>& locations) const {
    const auto file = [&](LocationId location) {
      return shared_.files / (std::to_string(location.value()) + ".def");
    };
    for (std::size_t i = 1; i < locations.size(); ++i) {
      std::error_code error;
      std::filesystem::create_hard_link(file(locations.front()), file(locations[i]), error);
      if (!error) continue;
      std::filesystem::copy_file(file(locations.front()), file(locations[i]), error);
      if (error) throw Error(shared_.what + ": " + error.message() + " [TL315]");
    }
  }

  Shared& shared_;
  const Epoch epoch_;
};

}  // namespace

EventReferences references_of(const Shared& shared) {
  EventReferences result;
  result.first_communicator = shared.first_communicator;
  result.offset_attribute = shared.offset_attribute;
  result.memory_attribute = shared.memory_attribute;
  const std::vector<Metric>& metrics = shared.definitions->metrics;
  for (std::uint32_t i = 0; i < metrics.size(); ++i) {
    const MetricMember& place = shared.metrics[i];
    if (metrics[i].of_waiting() || place.member != 0) continue;
    result.metrics.push_back({place.metric_class, i, {}});
    for (const auto& [where, instance] : shared.metric_instances) {
      if (where.second == place.metric_class) result.metrics.push_back({instance, i, where.first});
    }
  }
  const auto& strings = shared.strings.strings();
  for (std::uint32_t i = 0; i < strings.size(); ++i) {
    if (!shared.strings.is_referred(i)) continue;
    result.string_references.push_back(i);
    result.strings.push_back(strings[i]);
  }
  const auto& files = shared.io_files.strings();
  result.io_files.assign(std::next(files.begin()), files.end());  // the first stands for "none"
  return result;
}

void intern_meanings(Shared& shared) {
  constexpr std::size_t kEntry = 5, kPair = 10;  // bytes at most, of compressed references
  for (const EventFiles& files : shared.taken) {
    const EventFiles::Meaning meaning = files.meaning();
    for (const std::string& text : meaning.references.strings) (void)shared.strings.intern(text);
    for (const std::string& path : meaning.references.io_files) (void)io_file(shared, path);
    const std::size_t longest =
        std::max({meaning.references.io_files.size(), meaning.regions.size(),
                  meaning.parameters.size(), meaning.io_handles.size(),
                  meaning.communicators.size() + meaning.references.first_communicator});
    shared.largest_table = std::max(
        {shared.largest_table, kEntry * longest, kPair * meaning.references.strings.size()});
  }
}

void write_local_definitions(Shared& shared, const Epoch& epoch) {
  if (!shared.definitions->locations.empty()) LocalDefinitions(shared, epoch).write();
}

}  // namespace timeloom::otf2
