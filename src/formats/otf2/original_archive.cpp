#include "formats/otf2/original_archive.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "formats/otf2/read/record_kinds.hpp"

// OTF2 has deprecated Callsite, which archives may still have.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace timeloom::otf2 {

namespace fs = std::filesystem;

namespace {

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    throw Error("cannot write " + path.string() + ": " + std::strerror(errno) +
                "; make room there and try again [TL315]");
  }
}

struct Copy {
  OTF2_GlobalDefWriter* writer;
  OTF2_ErrorCode code = OTF2_SUCCESS;
};

// A callback has the arguments of the function that writes such a definition.
template <auto kWrite, typename... Arguments>
OTF2_CallbackCode on_definition(void* data, Arguments... arguments) noexcept {
  Copy& copy = *static_cast<Copy*>(data);
  copy.code = kWrite(copy.writer, arguments...);
  return copy.code == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}
template <auto kWrite, typename... Arguments>
void copy_all(OTF2_GlobalDefReaderCallbacks* callbacks,
              OTF2_ErrorCode (*set)(OTF2_GlobalDefReaderCallbacks*,
                                    OTF2_CallbackCode (*)(void*, Arguments...))) {
  set(callbacks, on_definition<kWrite, Arguments...>);
}

}  // namespace

std::uint32_t OriginalReferences::of(const Event& event) const {
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave: return regions.at(event.ref);
    case EventKind::kParameterInt:
    case EventKind::kParameterUint:
    case EventKind::kParameterFloat:
    case EventKind::kParameterString: return parameters.at(event.ref);
    default: return refers_to_communicator(event.kind) ? communicators.at(event.ref) : event.ref;
  }
}

OriginalArchive::Files::Files(fs::path directory) : directory_(std::move(directory)) {
  std::error_code error;
  if (!fs::create_directory(directory_, error)) {
    throw Error("cannot make the directory " + directory_.string() + ": " + error.message() +
                "; make room there and try again [TL315]");
  }
}

OriginalArchive::Files::~Files() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

fs::path OriginalArchive::Files::write(const OriginalFiles& kept) const {
  write_file(directory_ / "original.otf2", kept.anchor);
  write_file(directory_ / "original.def", kept.definitions);
  return directory_ / "original.otf2";
}

OriginalArchive::OriginalArchive(const fs::path& directory, const Definitions& run)
    : files_(directory), anchor_(read_anchor(files_.write(*run.original))) {
  const ReaderHandle reader = open_reader(anchor_);
  read_definitions(reader.get(), anchor_, definitions_, references_);
  check_fits(run);
  of_events_.regions = references_.regions.inverse(run.regions.size());
  of_events_.parameters = references_.parameters.inverse(run.parameters.size());
  of_events_.communicators = references_.communicators.inverse(run.communicators.size());
}

void OriginalArchive::check_fits(const Definitions& run) const {
  const Definitions& kept = definitions_;
  const bool fits =
      kept.regions.size() == run.regions.size() &&
      kept.parameters.size() == run.parameters.size() &&
      kept.communicators.size() == run.communicators.size() &&
      kept.strings.size() == run.strings.size() && kept.metrics.size() == run.metrics.size() &&
      kept.groups.size() == run.groups.size() &&
      std::ranges::equal(kept.locations, run.locations, {}, &Location::id, &Location::id);
  if (!fits) {
    throw Error(
        "the packed trace has kept the definitions of another archive than its events are of; "
        "copy it again [TL174]");
  }
}

void OriginalArchive::refer(Shared& shared) const {
  shared.original = &of_events_;
  shared.first_communicator = 0;
  shared.process_attribute = references_.process_id;
  shared.string_references = references_.strings.inverse(definitions_.strings.size());
  std::map<std::string, OTF2_StringRef> by_text;
  for (std::size_t i = 0; i < definitions_.strings.size(); ++i) {
    by_text.try_emplace(definitions_.strings[i], shared.string_references[i]);
  }
  const auto ref = [&](const std::string& text) {
    const auto found = by_text.find(text);
    return found == by_text.end() ? OTF2_UNDEFINED_STRING : found->second;
  };
  for (const LocationGroup& group : shared.definitions->groups) {
    Shared::Program program{ref(group.executable), {}};
    for (const std::string& argument : group.arguments) program.arguments.push_back(ref(argument));
    shared.programs.push_back(std::move(program));
  }
  shared.metrics.resize(definitions_.metrics.size(), {OTF2_UNDEFINED_METRIC, 0, 1});
  for (const auto& [reference, members] : references_.metrics) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] == kNoIndex || shared.metrics[members[i]].metric_class <= reference) continue;
      shared.metrics[members[i]] = {reference, static_cast<std::uint8_t>(i),
                                    static_cast<std::uint8_t>(members.size())};
    }
  }
}

void OriginalArchive::describe(OTF2_Archive* archive, const std::string& what) const {
  const ReaderHandle reader = open_reader(anchor_);
  const auto ok = [&](OTF2_ErrorCode code) { check(code, what); };
  const auto copy = [&](auto get, auto set) {
    char* text = nullptr;
    ok(get(reader.get(), &text));
    const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
    if (text != nullptr) ok(set(archive, text));
  };
  copy(OTF2_Reader_GetMachineName, OTF2_Archive_SetMachineName);
  copy(OTF2_Reader_GetCreator, OTF2_Archive_SetCreator);
  copy(OTF2_Reader_GetDescription, OTF2_Archive_SetDescription);
  for (const auto& [name, value] : properties_of(reader.get(), what)) {
    ok(OTF2_Archive_SetProperty(archive, name.c_str(), value.c_str(), true));
  }
  ok(OTF2_Archive_SetDefChunkSize(archive, anchor_.definition_chunk));
}

void OriginalArchive::copy_definitions(OTF2_GlobalDefWriter* writer,
                                       const std::string& what) const {
  const ReaderHandle reader = open_reader(anchor_);
  OTF2_GlobalDefReader* all = check(OTF2_Reader_GetGlobalDefReader(reader.get()), what);
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks,
                        decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>
      callbacks(OTF2_GlobalDefReaderCallbacks_New(), &OTF2_GlobalDefReaderCallbacks_Delete);
#define TIMELOOM_COPY(kind)                                    \
  copy_all<&OTF2_GlobalDefWriter_Write##kind>(callbacks.get(), \
                                              OTF2_GlobalDefReaderCallbacks_Set##kind##Callback);
  TIMELOOM_OTF2_GLOBAL_DEFINITIONS(TIMELOOM_COPY)
  TIMELOOM_OTF2_DEFINITIONS(TIMELOOM_COPY)
#undef TIMELOOM_COPY
  Copy copy{writer};
  check(OTF2_Reader_RegisterGlobalDefCallbacks(reader.get(), all, callbacks.get(), &copy), what);
  std::uint64_t read = 0;
  const OTF2_ErrorCode code =
      OTF2_Reader_ReadGlobalDefinitions(reader.get(), all, OTF2_UNDEFINED_UINT64, &read);
  check(copy.code, what);
  check(code, what);
}

// The reader has put the communicator and the number in it together.
OTF2_ErrorCode write_original_thread(OTF2_EvtWriter* writer, const Event& event) {
  const auto communicator = static_cast<OTF2_CommRef>(event.value);
  const std::uint64_t number = event.value >> 32;
  const OTF2_TimeStamp time = ticks(event.time);
  switch (event.kind) {
    case EventKind::kThreadCreate:
      return OTF2_EvtWriter_ThreadCreate(writer, nullptr, time, communicator, number);
    case EventKind::kThreadBegin:
      return OTF2_EvtWriter_ThreadBegin(writer, nullptr, time, communicator, number);
    case EventKind::kThreadEnd:
      return OTF2_EvtWriter_ThreadEnd(writer, nullptr, time, communicator, number);
    default: return OTF2_EvtWriter_ThreadWait(writer, nullptr, time, communicator, number);
  }
}

}  // namespace timeloom::otf2
