#include "preload/mpi/mpi_messages.hpp"

#include <mutex>
#include <new>
#include <unordered_map>

#include "preload/mpi/files.hpp"

namespace timeloom::mpi {
namespace {

int field(const void* status, std::size_t at) noexcept {
  int value = 0;
  std::memcpy(&value, static_cast<const char*>(status) + at, sizeof value);
  return value;
}

bool was_cancelled(const void* status) noexcept {
  int flag = 0;
  real<int(const void*, int*)>(Function::kTest_cancelled)(status, &flag);
  return flag != 0;
}

std::uint64_t where(const Communicator& communicator, std::uint32_t peer) noexcept {
  return pair_of(communicator.id, peer);
}

// Never destroyed: threads may outlive the static objects of the program.
struct Messages {
  std::mutex mutex;
  std::unordered_multimap<Handle, Handle> communicators;
};
Messages& messages() {
  static auto* const kInstance = new Messages;
  return *kInstance;
}

void put_received(const Pending& pending, const void* status) noexcept {
  const Envelope envelope = envelope_of(status);
  if (envelope.from_nobody) return;
  put(ExtendedKind::kMpiIrecv, {where(*pending.communicator, envelope.source), envelope.tag,
                                envelope.bytes, pending.number});
}

void put_exchanged(const Pending& pending) noexcept {
  if (pending.number_of_send != 0) {
    put(ExtendedKind::kMpiIsendComplete, {pending.number_of_send});
  }
  put(ExtendedKind::kMpiIrecv,
      {where(*pending.communicator, pending.peer), pending.tag, pending.received, pending.number});
}

}  // namespace

std::uint64_t bytes_of(Count count, Handle datatype) noexcept {
  if (count <= 0) return 0;
  Count size = 0;
  real<int(Handle, Count*)>(Function::kType_size_x)(datatype, &size);
  return size < 0 ? 0 : static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size);
}

Envelope envelope_of(const void* status) noexcept {
  Envelope envelope;
  const int source = field(status, abi()->source_at);
  envelope.from_nobody = source == abi()->proc_null;
  envelope.source = static_cast<std::uint32_t>(source);
  envelope.tag = static_cast<std::uint32_t>(field(status, abi()->tag_at));
  Count bytes = 0;
  real<int(const void*, Handle, Count*)>(Function::kGet_elements_x)(status, abi()->byte, &bytes);
  if (bytes > 0) envelope.bytes = static_cast<std::uint64_t>(bytes);
  return envelope;
}

int error_of(const void* status) noexcept { return field(status, abi()->tag_at + sizeof(int)); }

bool is_in_status(int result) noexcept {
  if (result == 0 || abi() == nullptr) return false;
  int kind = result;
  real<int(int, int*)>(Function::kError_class)(result, &kind);
  return kind == abi()->in_status;
}

void put_send(Handle comm, int dest, int tag, Count count, Handle datatype) noexcept {
  const Communicator* const communicator = defined_communicator(comm);
  if (communicator == nullptr || dest == abi()->proc_null) return;
  put(ExtendedKind::kMpiSend, {where(*communicator, static_cast<std::uint32_t>(dest)),
                               static_cast<std::uint32_t>(tag), bytes_of(count, datatype)});
}

void put_isend(const Communicator& communicator, int dest, int tag, std::uint64_t bytes,
               std::uint64_t request) noexcept {
  put(ExtendedKind::kMpiIsend, {where(communicator, static_cast<std::uint32_t>(dest)),
                                static_cast<std::uint32_t>(tag), bytes, request});
}

void put_receive(Handle comm, const void* status) noexcept {
  const Communicator* const communicator = defined_communicator(comm);
  if (communicator == nullptr) return;
  const Envelope envelope = envelope_of(status);
  if (envelope.from_nobody) return;
  put(ExtendedKind::kMpiRecv,
      {where(*communicator, envelope.source), envelope.tag, envelope.bytes});
}

void put_request(ExtendedKind kind, std::uint64_t request) noexcept { put(kind, {request}); }

void put_completion(Handle request, const void* status) noexcept {
  const auto pending = complete_request(request);
  if (!pending) return;
  if (pending->kind == Pending::Kind::kCommunicator) {
    Communicator* const made =
        add_promised(pending->parent, abi()->load(pending->made), pending->identity);
    if (made == nullptr || !record::recording()) return;
    define(*made);
    return put(ExtendedKind::kCommCreate, {made->id});
  }
  if (pending->kind == Pending::Kind::kFile) return put_transferred(*pending, status);
  if (!record::recording() || pending->communicator == nullptr) return;
  define(*pending->communicator);
  if (pending->cancelled && was_cancelled(status)) {
    return put(ExtendedKind::kMpiRequestCancelled, {pending->number});
  }
  switch (pending->kind) {
    case Pending::Kind::kSend: return put(ExtendedKind::kMpiIsendComplete, {pending->number});
    case Pending::Kind::kReceive: return put_received(*pending, status);
    case Pending::Kind::kExchange: return put_exchanged(*pending);
    default: break;
  }
  put(ExtendedKind::kMpiCollectiveComplete,
      {where(*pending->communicator, static_cast<std::uint32_t>(pending->operation)), pending->root,
       pending->sent, pending->received, pending->number});
}

void put_start(Handle request) noexcept {
  const auto started = start_request(request);
  if (!started || !record::recording() || started->communicator == nullptr) return;
  define(*started->communicator);
  if (started->kind == Pending::Kind::kSend) {
    put(ExtendedKind::kMpiIsend, {where(*started->communicator, started->peer), started->tag,
                                  started->sent, started->number});
  } else {
    put(ExtendedKind::kMpiIrecvRequest, {started->number});
  }
}

void add_message(Handle message, Handle comm) noexcept try {
  Messages& all = messages();
  const std::lock_guard lock(all.mutex);
  all.communicators.emplace(abi()->handle(message), comm);
} catch (const std::bad_alloc&) {
  return;  // its receive will not be recorded
}

Handle take_message(Handle message) noexcept {
  Messages& all = messages();
  const std::lock_guard lock(all.mutex);
  const auto found = all.communicators.find(abi()->handle(message));
  if (found == all.communicators.end()) return 0;
  const Handle comm = found->second;
  all.communicators.erase(found);
  return comm;
}

}  // namespace timeloom::mpi
