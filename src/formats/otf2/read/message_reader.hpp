// Passes the MPI events that the library reads to an event translator.
//
// `Translator` has `static Translator& self(void*)`, `References` in references(), and add(time,
// kind, ref, value), which lets no exception out.
#pragma once

#include "core/mpi/mpi_event.hpp"
#include "formats/otf2/read/definition_reader.hpp"

namespace timeloom::otf2 {

template <typename Translator>
class MessageCallbacks {
 public:
  static void register_in(OTF2_EvtReaderCallbacks* all) {
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(all, on_message<EventKind::kMpiSend>);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(all, on_message<EventKind::kMpiRecv>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(all, on_immediate<EventKind::kMpiIsend>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(all, on_immediate<EventKind::kMpiIrecv>);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(all,
                                                        on_request<EventKind::kMpiIsendComplete>);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(all,
                                                       on_request<EventKind::kMpiIrecvRequest>);
    OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(all, on_request<EventKind::kMpiRequestTest>);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(
        all, on_request<EventKind::kMpiRequestCancelled>);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(all, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(all, on_collective_end);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
        all, on_request<EventKind::kMpiCollectiveRequest>);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(all, on_collective_complete);
    OTF2_EvtReaderCallbacks_SetCommCreateCallback(all, on_communicator<EventKind::kCommCreate>);
    OTF2_EvtReaderCallbacks_SetCommDestroyCallback(all, on_communicator<EventKind::kCommDestroy>);
  }

 private:
  static std::uint32_t communicator(void* data, OTF2_CommRef communicator) noexcept {
    return Translator::self(data).references().communicators.find(communicator);
  }

  // An event of an unknown communicator is left out, together with its operands.
  static OTF2_CallbackCode put(void* data, OTF2_TimeStamp time, OTF2_CommRef comm,
                               OperandKind place, std::uint64_t value) noexcept {
    if (communicator(data, comm) == kNoIndex) return OTF2_CALLBACK_SUCCESS;
    return Translator::self(data).add(time, EventKind::kOperand, static_cast<std::uint32_t>(place),
                                      value);
  }

  template <EventKind kKind>
  static OTF2_CallbackCode on_message(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                      void* data, OTF2_AttributeList*, std::uint32_t peer,
                                      OTF2_CommRef comm, std::uint32_t tag,
                                      std::uint64_t bytes) noexcept {
    (void)put(data, time, comm, OperandKind::kPeerAndTag, pair_of(peer, tag));
    return Translator::self(data).add(time, kKind, communicator(data, comm), bytes);
  }

  template <EventKind kKind>
  static OTF2_CallbackCode on_immediate(OTF2_LocationRef location, OTF2_TimeStamp time,
                                        std::uint64_t position, void* data,
                                        OTF2_AttributeList* attributes, std::uint32_t peer,
                                        OTF2_CommRef comm, std::uint32_t tag, std::uint64_t bytes,
                                        std::uint64_t request) noexcept {
    (void)put(data, time, comm, OperandKind::kRequest, request);
    return on_message<kKind>(location, time, position, data, attributes, peer, comm, tag, bytes);
  }

  template <EventKind kKind>
  static OTF2_CallbackCode on_request(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                      void* data, OTF2_AttributeList*,
                                      std::uint64_t request) noexcept {
    return Translator::self(data).add(time, kKind, 0, request);
  }

  static OTF2_CallbackCode on_collective_begin(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                               void* data, OTF2_AttributeList*) noexcept {
    return Translator::self(data).add(time, EventKind::kMpiCollectiveBegin, 0);
  }

  static OTF2_CallbackCode collective(void* data, OTF2_TimeStamp time, EventKind kind,
                                      OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                      std::uint32_t root, std::uint64_t sent,
                                      std::uint64_t received) noexcept {
    (void)put(data, time, comm, OperandKind::kPeerAndTag, pair_of(operation, root));
    (void)put(data, time, comm, OperandKind::kReceived, received);
    return Translator::self(data).add(time, kind, communicator(data, comm), sent);
  }

  static OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                             void* data, OTF2_AttributeList*,
                                             OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                             std::uint32_t root, std::uint64_t sent,
                                             std::uint64_t received) noexcept {
    return collective(data, time, EventKind::kMpiCollectiveEnd, operation, comm, root, sent,
                      received);
  }

  static OTF2_CallbackCode on_collective_complete(OTF2_LocationRef, OTF2_TimeStamp time,
                                                  std::uint64_t, void* data, OTF2_AttributeList*,
                                                  OTF2_CollectiveOp operation, OTF2_CommRef comm,
                                                  std::uint32_t root, std::uint64_t sent,
                                                  std::uint64_t received,
                                                  std::uint64_t request) noexcept {
    (void)put(data, time, comm, OperandKind::kRequest, request);
    return collective(data, time, EventKind::kMpiCollectiveComplete, operation, comm, root, sent,
                      received);
  }

  template <EventKind kKind>
  static OTF2_CallbackCode on_communicator(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                           void* data, OTF2_AttributeList*,
                                           OTF2_CommRef comm) noexcept {
    return Translator::self(data).add(time, kKind, communicator(data, comm));
  }
};

}  // namespace timeloom::otf2
