#include "formats/packed/event_check.hpp"

#include "core/io.hpp"

namespace timeloom::packed {

bool is_sound(const Event& event, const DefinitionCounts& definitions) noexcept {
  const bool is_handle = event.ref < definitions.io_handles;
  const bool is_communicator = event.ref < definitions.communicators;
  switch (event.kind) {
    case EventKind::kEnter:
    case EventKind::kLeave:
    case EventKind::kTrack:
    case EventKind::kTrackEnd:
    case EventKind::kRewindBegin:
    case EventKind::kRewindEnd: return false;
    case EventKind::kParameterInt:
    case EventKind::kParameterUint:
    case EventKind::kParameterFloat: return event.ref < definitions.parameters;
    case EventKind::kParameterString:
      return event.ref < definitions.parameters && event.value < definitions.strings;
    case EventKind::kMetric: return event.ref < definitions.metrics;
    case EventKind::kProgramBegin: return event.ref < definitions.groups;
    case EventKind::kIoDuplicate:
      return is_handle && io_handle_of(event.value) < definitions.io_handles;
    case EventKind::kIoDelete:
      return event.value < definitions.strings &&
             event.ref <= static_cast<std::uint32_t>(IoParadigm::kOther);
    case EventKind::kIoCreate:
    case EventKind::kIoDestroy:
    case EventKind::kIoSeek:
    case EventKind::kIoStatusFlags:
    case EventKind::kIoRead:
    case EventKind::kIoWrite:
    case EventKind::kIoFlush:
    case EventKind::kIoReadDone:
    case EventKind::kIoWriteDone:
    case EventKind::kIoFlushDone: return is_handle;
    case EventKind::kRmaGet:
    case EventKind::kRmaPut:
    case EventKind::kRmaDone: return event.ref < definitions.contexts;
    default:
      return refers_to_communicator(event.kind) ? is_communicator : event.kind <= kLastEventKind;
  }
}

}  // namespace timeloom::packed
