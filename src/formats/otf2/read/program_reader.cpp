// Reads ProgramBegin ahead of the other events of a process, because its contents belong to the
// definitions.

#include <exception>
#include <span>

#include "formats/otf2/read/chunk_check.hpp"
#include "formats/otf2/read/location_reader.hpp"

namespace timeloom::otf2 {

namespace {

struct Program {
  const References& references;
  Definitions& definitions;
  LocationGroup& group;
  std::exception_ptr failure = nullptr;  // exceptions must not pass through the library

  std::string text(OTF2_StringRef reference) const {
    const std::uint32_t index = references.strings.find(reference);
    return index == kNoIndex ? std::string() : definitions.strings[index];
  }
  void set_command(OTF2_StringRef name, std::span<const OTF2_StringRef> arguments) const {
    group.executable = text(name);
    for (const OTF2_StringRef argument : arguments) group.arguments.push_back(text(argument));
  }
};

OTF2_CallbackCode on_program_begin(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* data,
                                   OTF2_AttributeList* attributes, OTF2_StringRef name,
                                   std::uint32_t count, const OTF2_StringRef* arguments) noexcept {
  Program& program = *static_cast<Program*>(data);
  try {
    program.set_command(name, {arguments, count});
  } catch (...) {
    program.failure = std::current_exception();
    return OTF2_CALLBACK_INTERRUPT;
  }
  std::uint64_t process = 0;
  const OTF2_AttributeRef wanted = program.references.process_id;
  if (wanted != OTF2_UNDEFINED_ATTRIBUTE &&
      OTF2_AttributeList_TestAttributeByID(attributes, wanted) &&
      OTF2_AttributeList_GetUint64(attributes, wanted, &process) == OTF2_SUCCESS) {
    program.group.process_id = process;
  }
  return OTF2_CALLBACK_SUCCESS;
}

// Reads the first event, if it is sound.
void read_first_event(OTF2_Reader* reader, const Location& location, Program& program,
                      const std::string& what) {
  OTF2_EvtReader* events = check(OTF2_Reader_GetEvtReader(reader, location.id.value()), what);
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
  OTF2_EvtReaderCallbacks_SetProgramBeginCallback(callbacks, on_program_begin);
  OTF2_Reader_RegisterEvtCallbacks(reader, events, callbacks, &program);
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  std::uint64_t read = 0;
  // An error here occurs again, and is counted, when the events are read.
  OTF2_Reader_ReadLocalEvents(reader, events, 1, &read);
  OTF2_Reader_CloseEvtReader(reader, events);
  forget_library_errors();
  if (program.failure) std::rethrow_exception(program.failure);
}

}  // namespace

void read_programs(OTF2_Reader* reader, const Anchor& anchor, const References& references,
                   Definitions& definitions) {
  std::vector<bool> seen(definitions.groups.size());
  for (const Location& location : definitions.locations) {
    // By convention it is the first event of the first location of a process.
    if (seen[location.group.value()]) continue;
    seen[location.group.value()] = true;
    const ArchiveFile file = anchor.events(location.id);
    if (!file.exists()) continue;
    if (ChunkCheck(file, FileKind::kEvents, anchor.event_chunk).next().records == 0) continue;
    Program program{references, definitions, definitions.groups[location.group.value()]};
    apply_local_definitions(reader, anchor, location);
    read_first_event(reader, location, program, "cannot read " + file.path());
  }
}

}  // namespace timeloom::otf2
