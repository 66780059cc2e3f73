// The functions that start, complete and cancel requests; contract as in point_to_point.hpp.
#pragma once

#include <memory>
#include <new>

#include "preload/mpi/point_to_point.hpp"

namespace timeloom::mpi {

// The requests of a call before it was made, and statuses if the program passed none. Without
// memory both are missing, and `complete` records nothing.
class Requests {
 public:
  Requests(int count, const void* requests, void* statuses) noexcept : array_(requests) {
    if (abi() == nullptr || count < 0) return;
    const auto size = static_cast<std::size_t>(count);
    const bool ignored = reinterpret_cast<std::uintptr_t>(statuses) == abi()->no_status;
    if (size > kFew) {
      many_.reset(new (std::nothrow) Handle[size]);
      if (many_ == nullptr) return;
      if (ignored) many_statuses_.reset(new (std::nothrow) Room[size]);
      if (ignored && many_statuses_ == nullptr) return;
    }
    handles_ = size > kFew ? many_.get() : few_;
    for (std::size_t i = 0; i < size; ++i) handles_[i] = abi()->load(requests, i);
    statuses_ = !ignored ? statuses : size > kFew ? many_statuses_.get() : few_statuses_;
  }

  // The statuses to pass to the real function.
  void* statuses(void* given) const noexcept { return handles_ == nullptr ? given : statuses_; }

  // Called when a call for the request `index` has returned `result`, and the status at `place`.
  // After an error, a request may be complete or freed; nothing is recorded then.
  void complete(int index, int place, int result) const noexcept {
    if (handles_ == nullptr || index < 0) return;
    const void* const status =
        static_cast<const char*>(statuses_) + static_cast<std::size_t>(place) * abi()->status_bytes;
    if (ok(result) || (is_in_status(result) && ok(error_of(status)))) {
      put_completion(handles_[index], status);
    } else if (abi()->load(array_, static_cast<std::size_t>(index)) == abi()->no_request) {
      (void)complete_request(handles_[index]);
    }
  }

 private:
  static constexpr std::size_t kFew = 16;
  struct alignas(8) Room {
    std::byte bytes[kStatusBytes];
  };
  const void* array_;
  Handle few_[kFew];
  Room few_statuses_[kFew];
  std::unique_ptr<Handle[]> many_;
  std::unique_ptr<Room[]> many_statuses_;
  Handle* handles_ = nullptr;
  void* statuses_ = nullptr;
};

template <typename Real>
int start(Call&, Real real, void* request) {
  if (abi() != nullptr) put_start(abi()->load(request));
  return real(request);
}

template <typename Real>
int startall(Call&, Real real, int count, void* requests) {
  for (int i = 0; i < count && abi() != nullptr; ++i) {
    put_start(abi()->load(requests, static_cast<std::size_t>(i)));
  }
  return real(count, requests);
}

template <typename Real>
int wait(Call&, Real real, void* request, void* status) {
  const Requests requests(1, request, status);
  const int result = real(request, requests.statuses(status));
  requests.complete(0, 0, result);
  return result;
}

template <typename Real>
int test(Call&, Real real, void* request, int* flag, void* status) {
  const Requests requests(1, request, status);
  const int result = real(request, flag, requests.statuses(status));
  if (!ok(result) || *flag != 0) requests.complete(0, 0, result);
  return result;
}

template <typename Real>
int waitany(Call&, Real real, int count, void* array, int* index, void* status) {
  const Requests requests(count, array, status);
  const int result = real(count, array, index, requests.statuses(status));
  if (ok(result)) requests.complete(*index, 0, result);
  for (int i = 0; i < count && !ok(result); ++i) requests.complete(i, 0, result);
  return result;
}

template <typename Real>
int testany(Call&, Real real, int count, void* array, int* index, int* flag, void* status) {
  const Requests requests(count, array, status);
  const int result = real(count, array, index, flag, requests.statuses(status));
  if (ok(result) && *flag != 0) requests.complete(*index, 0, result);
  for (int i = 0; i < count && !ok(result); ++i) requests.complete(i, 0, result);
  return result;
}

template <typename Real>
int waitall(Call&, Real real, int count, void* array, void* statuses) {
  const Requests requests(count, array, statuses);
  const int result = real(count, array, requests.statuses(statuses));
  for (int i = 0; i < count; ++i) requests.complete(i, i, result);
  return result;
}

template <typename Real>
int testall(Call&, Real real, int count, void* array, int* flag, void* statuses) {
  const Requests requests(count, array, statuses);
  const int result = real(count, array, flag, requests.statuses(statuses));
  const bool complete = !ok(result) || *flag != 0;
  for (int i = 0; i < count && complete; ++i) requests.complete(i, i, result);
  return result;
}

// Waitsome and Testsome. The number is MPI_UNDEFINED, which is negative, if no request was active.
template <typename Real>
int waitsome(Call&, Real real, int count, void* array, int* completed, int* indices,
             void* statuses) {
  const Requests requests(count, array, statuses);
  const int result = real(count, array, completed, indices, requests.statuses(statuses));
  if (ok(result) || is_in_status(result)) {
    for (int i = 0; i < *completed; ++i) requests.complete(indices[i], i, result);
  } else {
    for (int i = 0; i < count; ++i) requests.complete(i, 0, result);
  }
  return result;
}

template <typename Real>
int testsome(Call& call, Real real, int count, void* array, int* completed, int* indices,
             void* statuses) {
  return waitsome(call, real, count, array, completed, indices, statuses);
}

template <typename Real>
int cancel(Call&, Real real, void* request) {
  if (abi() != nullptr) mark_cancelled(abi()->load(request));
  return real(request);
}

// The release of a send request counts as its completion, as OTF2 requires.
template <typename Real>
int request_free(Call&, Real real, void* request) {
  const Handle handle = abi() == nullptr ? 0 : abi()->load(request);
  const int result = real(request);
  if (!ok(result) || abi() == nullptr) return result;
  const auto pending = forget_request(handle);
  if (!pending) return result;
  const std::uint64_t sent =
      pending->kind == Pending::Kind::kSend ? pending->number : pending->number_of_send;
  if (sent != 0) put_request(ExtendedKind::kMpiIsendComplete, sent);
  return result;
}

}  // namespace timeloom::mpi
