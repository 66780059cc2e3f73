#include "formats/otf2/io_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/io.hpp"

namespace timeloom::otf2 {

namespace {

static_assert(static_cast<int>(IoAccess::kReadWrite) == OTF2_IO_ACCESS_MODE_READ_WRITE);
static_assert(static_cast<int>(IoOperation::kFlush) == OTF2_IO_OPERATION_MODE_FLUSH);
static_assert(static_cast<int>(IoWhence::kHole) == OTF2_IO_SEEK_HOLE);
static_assert(static_cast<int>(IoCreation::kTemporary) == OTF2_IO_CREATION_FLAG_TEMPORARY_FILE);
static_assert(static_cast<int>(IoStatus::kNoAccessTime) == OTF2_IO_STATUS_FLAG_NO_ACCESS_TIME);

struct Interface {
  const char* identification;
  const char* name;
  OTF2_IoParadigmClass io_class;
  OTF2_IoParadigmFlag flags;
};
// By IoParadigm.
constexpr std::array kInterfaces = {
    Interface{"POSIX", "POSIX I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS},
    Interface{"ISOC", "ISO C I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_NONE},
    Interface{"MPI-IO", "MPI I/O", OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE},
    Interface{"OTHER", "other I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_NONE}};

OTF2_ErrorCode write_begin(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes,
                           OTF2_AttributeRef attribute, const Event& event,
                           const std::optional<Event>& offset, std::uint64_t matching) {
  const auto mode = static_cast<OTF2_IoOperationMode>(static_cast<int>(event.kind) -
                                                      static_cast<int>(EventKind::kIoRead));
  if (offset) OTF2_AttributeList_AddUint64(attributes, attribute, offset->value);
  return OTF2_EvtWriter_IoOperationBegin(writer, offset ? attributes : nullptr, ticks(event.time),
                                         event.ref, mode, OTF2_IO_OPERATION_FLAG_NONE, event.value,
                                         matching);
}

}  // namespace

OTF2_ErrorCode write_io_event(OTF2_EvtWriter* writer, OTF2_AttributeList* attributes,
                              OTF2_AttributeRef attribute, const Event& event,
                              const std::optional<Event>& offset, IoParadigm interface) {
  const OTF2_TimeStamp time = ticks(event.time);
  // A handle has one transfer at a time on a location, so the number only distinguishes interfaces.
  const std::uint64_t matching = static_cast<std::uint64_t>(interface) + 1;
  switch (event.kind) {
    case EventKind::kIoCreate:
      return OTF2_EvtWriter_IoCreateHandle(
          writer, nullptr, time, event.ref,
          static_cast<OTF2_IoAccessMode>(io_access_of(event.value)), io_creation_of(event.value),
          io_status_of(event.value));
    case EventKind::kIoDestroy:
      return OTF2_EvtWriter_IoDestroyHandle(writer, nullptr, time, event.ref);
    case EventKind::kIoDuplicate:
      return OTF2_EvtWriter_IoDuplicateHandle(writer, nullptr, time, event.ref,
                                              io_handle_of(event.value), io_number_of(event.value));
    case EventKind::kIoSeek:
      return OTF2_EvtWriter_IoSeek(writer, nullptr, time, event.ref, offset ? offset->as_int() : 0,
                                   static_cast<OTF2_IoSeekOption>(offset ? offset->ref : 0),
                                   event.value);
    case EventKind::kIoStatusFlags:
      return OTF2_EvtWriter_IoChangeStatusFlags(writer, nullptr, time, event.ref,
                                                static_cast<OTF2_IoStatusFlag>(event.value));
    case EventKind::kIoRead:
    case EventKind::kIoWrite:
    case EventKind::kIoFlush:
      return write_begin(writer, attributes, attribute, event, offset, matching);
    default:
      return OTF2_EvtWriter_IoOperationComplete(writer, nullptr, time, event.ref, event.value,
                                                matching);
  }
}

void intern_io_names(Shared& shared) {
  if (shared.definitions->io_handles.empty()) return;
  const auto ref = [&](const std::string& text) { shared.strings.intern(text); };
  ref(kOffsetName);
  for (const Interface& one : kInterfaces) {
    ref(one.identification);
    ref(one.name);
  }
  for (const IoHandle& handle : shared.definitions->io_handles) {
    ref(handle.name);
    if (handle.file.empty()) continue;
    ref(handle.file);
    (void)io_file(shared, handle.file);
  }
}

namespace {

class IoDefinitions {
 public:
  IoDefinitions(Shared& shared, OTF2_GlobalDefWriter* writer) : shared_(shared), writer_(writer) {}

  void write() {
    ok(OTF2_GlobalDefWriter_WriteAttribute(writer_, shared_.offset_attribute, ref(kOffsetName), 0,
                                           OTF2_TYPE_UINT64));
    OTF2_IoParadigmRef self = 0;
    for (const Interface& one : kInterfaces) {
      ok(OTF2_GlobalDefWriter_WriteIoParadigm(writer_, self++, ref(one.identification),
                                              ref(one.name), one.io_class, one.flags, 0, nullptr,
                                              nullptr, nullptr));
    }
    write_files();
    write_handles();
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }
  OTF2_StringRef ref(const std::string& text) { return shared_.strings.intern(text); }

  void write_files() {
    const auto& paths = shared_.io_files.strings();
    for (std::size_t i = 1; i < paths.size(); ++i) {
      ok(OTF2_GlobalDefWriter_WriteIoRegularFile(writer_, static_cast<OTF2_IoFileRef>(i - 1),
                                                 ref(paths[i]), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    }
  }

  void write_handles() {
    OTF2_IoHandleRef self = 0;
    for (const IoHandle& handle : shared_.definitions->io_handles) {
      const OTF2_IoHandleFlag flags =
          handle.pre_created ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE;
      const OTF2_IoFileRef file =
          handle.file.empty() ? OTF2_UNDEFINED_IO_FILE : io_file(shared_, handle.file);
      ok(OTF2_GlobalDefWriter_WriteIoHandle(
          writer_, self, ref(handle.name), file, static_cast<OTF2_IoParadigmRef>(handle.paradigm),
          flags, OTF2_UNDEFINED_COMM,
          handle.parent.defined() ? handle.parent.value() : OTF2_UNDEFINED_IO_HANDLE));
      if (handle.pre_created) {
        ok(OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(
            writer_, self, static_cast<OTF2_IoAccessMode>(handle.access), handle.status));
      }
      ++self;
    }
  }

  Shared& shared_;
  OTF2_GlobalDefWriter* writer_;
};

}  // namespace

void write_io_definitions(Shared& shared, OTF2_GlobalDefWriter* writer) {
  if (!shared.definitions->io_handles.empty()) IoDefinitions(shared, writer).write();
}

}  // namespace timeloom::otf2
