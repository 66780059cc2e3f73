#include "spool/mpi_records.hpp"

#include "core/mpi/mpi_event.hpp"

namespace timeloom::spool {
namespace {

struct Shape {
  EventKind kind;
  enum class What : std::uint8_t { kNothing, kCommunicator, kRequest, kMessage, kCollective } what;
  bool has_request = false;  // the last operand
};

using What = Shape::What;

constexpr std::size_t words_of(const Shape& shape) noexcept {
  switch (shape.what) {
    case What::kNothing: return 0;
    case What::kCommunicator:
    case What::kRequest: return 1;
    case What::kMessage: return shape.has_request ? 4 : 3;
    case What::kCollective: return shape.has_request ? 5 : 4;
  }
  return 0;
}

Shape shape_of(ExtendedKind kind) noexcept {
  switch (kind) {
    case ExtendedKind::kMpiSend: return {EventKind::kMpiSend, What::kMessage};
    case ExtendedKind::kMpiRecv: return {EventKind::kMpiRecv, What::kMessage};
    case ExtendedKind::kMpiIsend: return {EventKind::kMpiIsend, What::kMessage, true};
    case ExtendedKind::kMpiIrecv: return {EventKind::kMpiIrecv, What::kMessage, true};
    case ExtendedKind::kMpiIsendComplete: return {EventKind::kMpiIsendComplete, What::kRequest};
    case ExtendedKind::kMpiIrecvRequest: return {EventKind::kMpiIrecvRequest, What::kRequest};
    case ExtendedKind::kMpiRequestTest: return {EventKind::kMpiRequestTest, What::kRequest};
    case ExtendedKind::kMpiRequestCancelled:
      return {EventKind::kMpiRequestCancelled, What::kRequest};
    case ExtendedKind::kMpiCollectiveEnd: return {EventKind::kMpiCollectiveEnd, What::kCollective};
    case ExtendedKind::kMpiCollectiveRequest:
      return {EventKind::kMpiCollectiveRequest, What::kRequest};
    case ExtendedKind::kMpiCollectiveComplete:
      return {EventKind::kMpiCollectiveComplete, What::kCollective, true};
    case ExtendedKind::kCommCreate: return {EventKind::kCommCreate, What::kCommunicator};
    case ExtendedKind::kCommDestroy: return {EventKind::kCommDestroy, What::kCommunicator};
    default: return {EventKind::kMpiCollectiveBegin, What::kNothing};
  }
}

}  // namespace

bool add_mpi(ExtendedKind kind, std::span<const std::uint64_t> words, Timestamp time,
             std::vector<Event>& events) {
  const Shape shape = shape_of(kind);
  if (words.size() != words_of(shape)) return false;
  if (shape.what < What::kMessage) {
    const bool communicator = shape.what == What::kCommunicator;
    const std::uint64_t word = words.empty() ? 0 : words[0];
    events.push_back(
        {time, shape.kind, communicator ? first_of(word) : 0, communicator ? 0 : word});
    return true;
  }
  events.push_back(
      operand(time, OperandKind::kPeerAndTag, pair_of(second_of(words[0]), first_of(words[1]))));
  if (shape.what == What::kCollective) {
    events.push_back(operand(time, OperandKind::kReceived, words[3]));
  }
  if (shape.has_request) events.push_back(operand(time, OperandKind::kRequest, words.back()));
  events.push_back({time, shape.kind, first_of(words[0]), words[2]});
  return true;
}

}  // namespace timeloom::spool
