// The functions of point-to-point communication, with the events recorded around each.
//
// functions.inc calls them with the region of the call, the real function and the arguments, for
// the variants with int and with MPI_Count. They return the result of the real function. Any
// thread; recording throws nothing.
#pragma once

#include "preload/mpi/mpi_messages.hpp"

namespace timeloom::mpi {

inline bool ok(int result) noexcept { return result == 0; }  // MPI_SUCCESS in all libraries

template <typename Real, typename Size>
int send(Call&, Real real, const void* buf, Size count, Handle datatype, int dest, int tag,
         Handle comm) {
  put_send(comm, dest, tag, count, datatype);
  return real(buf, count, datatype, dest, tag, comm);
}

template <typename Real, typename Size>
int recv(Call&, Real real, void* buf, Size count, Handle datatype, int source, int tag, Handle comm,
         void* status) {
  if (abi() == nullptr) return real(buf, count, datatype, source, tag, comm, status);
  Status own(status);
  const int result = real(buf, count, datatype, source, tag, comm, own.get());
  if (ok(result)) put_receive(comm, own.get());
  return result;
}

template <typename Real, typename Size>
int mrecv(Call&, Real real, void* buf, Size count, Handle datatype, void* message, void* status) {
  if (abi() == nullptr) return real(buf, count, datatype, message, status);
  const Handle comm = take_message(abi()->load(message));
  Status own(status);
  const int result = real(buf, count, datatype, message, own.get());
  if (ok(result) && comm != 0) put_receive(comm, own.get());
  return result;
}

template <typename Real, typename Size>
int sendrecv(Call&, Real real, const void* sendbuf, Size sendcount, Handle sendtype, int dest,
             int sendtag, void* recvbuf, Size recvcount, Handle recvtype, int source, int recvtag,
             Handle comm, void* status) {
  if (abi() == nullptr) {
    return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                recvtag, comm, status);
  }
  put_send(comm, dest, sendtag, sendcount, sendtype);
  Status own(status);
  const int result = real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                          source, recvtag, comm, own.get());
  if (ok(result)) put_receive(comm, own.get());
  return result;
}

template <typename Real, typename Size>
int sendrecv_replace(Call&, Real real, void* buf, Size count, Handle datatype, int dest,
                     int sendtag, int source, int recvtag, Handle comm, void* status) {
  if (abi() == nullptr) {
    return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, status);
  }
  put_send(comm, dest, sendtag, count, datatype);
  Status own(status);
  const int result = real(buf, count, datatype, dest, sendtag, source, recvtag, comm, own.get());
  if (ok(result)) put_receive(comm, own.get());
  return result;
}

template <typename Real, typename Size>
int isend(Call&, Real real, const void* buf, Size count, Handle datatype, int dest, int tag,
          Handle comm, void* request) {
  Communicator* const communicator = defined_communicator(comm);
  if (communicator == nullptr || dest == abi()->proc_null) {
    return real(buf, count, datatype, dest, tag, comm, request);
  }
  const std::uint64_t number = next_request();
  put_isend(*communicator, dest, tag, bytes_of(count, datatype), number);
  const int result = real(buf, count, datatype, dest, tag, comm, request);
  if (ok(result)) {
    add_request(abi()->load(request), {.kind = Pending::Kind::kSend,
                                       .active = true,
                                       .communicator = communicator,
                                       .number = number});
  }
  return result;
}

// `run` creates the request of a receive.
template <typename Run>
int begin_receive(Communicator* communicator, void* request, Run run) {
  if (communicator == nullptr) return run();
  const std::uint64_t number = next_request();
  put_request(ExtendedKind::kMpiIrecvRequest, number);
  const int result = run();
  if (ok(result)) {
    add_request(abi()->load(request), {.kind = Pending::Kind::kReceive,
                                       .active = true,
                                       .communicator = communicator,
                                       .number = number});
  }
  return result;
}

template <typename Real, typename Size>
int irecv(Call&, Real real, void* buf, Size count, Handle datatype, int source, int tag,
          Handle comm, void* request) {
  Communicator* const communicator = defined_communicator(comm);
  const bool from_nobody = communicator != nullptr && source == abi()->proc_null;
  return begin_receive(from_nobody ? nullptr : communicator, request,
                       [&] { return real(buf, count, datatype, source, tag, comm, request); });
}

// One side of an exchange. `bytes`: of its buffer.
struct Side {
  int peer, tag;
  Count count;
  Handle datatype;
  std::uint64_t bytes() const noexcept { return bytes_of(count, datatype); }
};

// `run` creates one request for both. MPICH 5.0 does not fill in its status. So the receive is
// recorded from the arguments of the call, unless these accept any sender or tag.
template <typename Run>
int begin_exchange(Handle comm, const Side& sent, const Side& received, void* request, Run run) {
  Communicator* const communicator = defined_communicator(comm);
  if (communicator == nullptr) return run();
  Pending pending{.kind = Pending::Kind::kSend, .active = true, .communicator = communicator};
  if (sent.peer != abi()->proc_null) {
    pending.number = next_request();
    put_isend(*communicator, sent.peer, sent.tag, sent.bytes(), pending.number);
  }
  if (received.peer >= 0 && received.tag >= 0) {  // other values are constants, all negative
    pending.kind = Pending::Kind::kExchange;
    pending.number_of_send = pending.number;
    pending.number = next_request();
    pending.peer = static_cast<std::uint32_t>(received.peer);
    pending.tag = static_cast<std::uint32_t>(received.tag);
    pending.received = received.bytes();
    put_request(ExtendedKind::kMpiIrecvRequest, pending.number);
  }
  const int result = run();
  if (ok(result) && pending.number != 0) add_request(abi()->load(request), pending);
  return result;
}

template <typename Real, typename Size>
int isendrecv(Call&, Real real, const void* sendbuf, Size sendcount, Handle sendtype, int dest,
              int sendtag, void* recvbuf, Size recvcount, Handle recvtype, int source, int recvtag,
              Handle comm, void* request) {
  return begin_exchange(comm, {dest, sendtag, sendcount, sendtype},
                        {source, recvtag, recvcount, recvtype}, request, [&] {
                          return real(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf,
                                      recvcount, recvtype, source, recvtag, comm, request);
                        });
}

template <typename Real, typename Size>
int isendrecv_replace(Call&, Real real, void* buf, Size count, Handle datatype, int dest,
                      int sendtag, int source, int recvtag, Handle comm, void* request) {
  return begin_exchange(
      comm, {dest, sendtag, count, datatype}, {source, recvtag, count, datatype}, request,
      [&] { return real(buf, count, datatype, dest, sendtag, source, recvtag, comm, request); });
}

template <typename Real, typename Size>
int imrecv(Call&, Real real, void* buf, Size count, Handle datatype, void* message, void* request) {
  const Handle comm = abi() == nullptr ? 0 : take_message(abi()->load(message));
  return begin_receive(comm == 0 ? nullptr : defined_communicator(comm), request,
                       [&] { return real(buf, count, datatype, message, request); });
}

template <typename Real, typename Size>
int send_init(Call&, Real real, const void* buf, Size count, Handle datatype, int dest, int tag,
              Handle comm, void* request) {
  const int result = real(buf, count, datatype, dest, tag, comm, request);
  Communicator* const communicator = mpi::communicator(comm);
  if (!ok(result) || communicator == nullptr || dest == abi()->proc_null) return result;
  add_request(abi()->load(request), {.kind = Pending::Kind::kSend,
                                     .persistent = true,
                                     .communicator = communicator,
                                     .peer = static_cast<std::uint32_t>(dest),
                                     .tag = static_cast<std::uint32_t>(tag),
                                     .sent = bytes_of(count, datatype)});
  return result;
}

template <typename Real, typename Size>
int recv_init(Call&, Real real, void* buf, Size count, Handle datatype, int source, int tag,
              Handle comm, void* request) {
  const int result = real(buf, count, datatype, source, tag, comm, request);
  Communicator* const communicator = mpi::communicator(comm);
  if (!ok(result) || communicator == nullptr || source == abi()->proc_null) return result;
  add_request(abi()->load(request),
              {.kind = Pending::Kind::kReceive, .persistent = true, .communicator = communicator});
  return result;
}

// Called when a probe has found a message. Messages of MPI_PROC_NULL share a handle and are not
// noted.
inline void note_found(int source, const void* message, Handle comm) noexcept {
  if (abi() == nullptr || source == abi()->proc_null) return;
  add_message(abi()->load(message), comm);
}

template <typename Real>
int mprobe(Call&, Real real, int source, int tag, Handle comm, void* message, void* status) {
  const int result = real(source, tag, comm, message, status);
  if (ok(result)) note_found(source, message, comm);
  return result;
}

template <typename Real>
int improbe(Call&, Real real, int source, int tag, Handle comm, int* flag, void* message,
            void* status) {
  const int result = real(source, tag, comm, flag, message, status);
  if (ok(result) && *flag != 0) note_found(source, message, comm);
  return result;
}

}  // namespace timeloom::mpi
