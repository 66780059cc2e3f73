#include "formats/otf2/message_writer.hpp"

#include <algorithm>
#include <map>

#include "core/mpi/communicator_groups.hpp"
#include "formats/otf2/global_definitions.hpp"

namespace timeloom::otf2 {

namespace {

constexpr char kParadigm[] = "MPI";
constexpr char kCommNames[] = "Comm ${id}";
constexpr char kWindowNames[] = "Win ${id}";

OTF2_CollectiveOp operation_of(const Operands& operands) {
  return static_cast<OTF2_CollectiveOp>(operands.operation());  // OTF2's numbers
}

class Communicators {
 public:
  Communicators(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group)
      : all_(shared.definitions->communicators), shared_(shared), writer_(writer), group_(group) {}

  void write() {
    write_paradigm();
    collect();
    write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, locations_);
    const OTF2_GroupRef self = group_;
    write_group(OTF2_GROUP_TYPE_COMM_SELF, {});
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const CommunicatorGroups groups = groups_of(all_[i]);
      const OTF2_GroupRef group = all_[i].self ? self : group_of(groups.first);
      const CommunicatorId parent = all_[i].parent;
      const OTF2_CommRef reference = shared_.first_communicator + static_cast<OTF2_CommRef>(i);
      const OTF2_CommRef from =
          parent.defined() ? shared_.first_communicator + parent.value() : OTF2_UNDEFINED_COMM;
      const OTF2_StringRef name = shared_.strings.intern(all_[i].name);
      if (groups.between) {
        ok(OTF2_GlobalDefWriter_WriteInterComm(writer_, reference, name, group,
                                               group_of(groups.second), from,
                                               OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS));
      } else {
        ok(OTF2_GlobalDefWriter_WriteComm(writer_, reference, name, group, from,
                                          OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS));
      }
    }
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }

  void write_paradigm() {
    ok(OTF2_GlobalDefWriter_WriteParadigm(writer_, OTF2_PARADIGM_MPI,
                                          shared_.strings.intern(kParadigm),
                                          OTF2_PARADIGM_CLASS_PROCESS));
    const auto put = [&](OTF2_ParadigmProperty property, const char* text) {
      OTF2_AttributeValue value;
      value.stringRef = shared_.strings.intern(text);
      ok(OTF2_GlobalDefWriter_WriteParadigmProperty(writer_, OTF2_PARADIGM_MPI, property,
                                                    OTF2_TYPE_STRING, value));
    };
    put(OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE, kCommNames);
    put(OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE, kWindowNames);
  }

  // Collects the locations of all members; the members of the first communicator (the world) by
  // rank.
  void collect() {
    for (const Communicator& one : all_) {
      const bool between = groups_of(one).between;
      for (const LocationId member : one.members) {
        if (member == kSecondGroup || (between && !member.defined())) continue;
        const auto [known, is_new] = places_.try_emplace(member.value(), locations_.size());
        if (is_new) locations_.push_back(member.value());
      }
    }
  }

  // The group of these members, written if it is new. Spawned processes that are not measured are
  // not locations: their group is empty.
  OTF2_GroupRef group_of(std::span<const LocationId> members) {
    std::vector<std::uint64_t> ranks;
    for (const LocationId member : members) {
      const auto place = places_.find(member.value());
      if (place != places_.end()) ranks.push_back(place->second);
    }
    const auto [known, is_new] = groups_.try_emplace(std::move(ranks), group_);
    if (is_new) write_group(OTF2_GROUP_TYPE_COMM_GROUP, known->first);
    return known->second;
  }

  void write_group(OTF2_GroupType type, const std::vector<std::uint64_t>& members) {
    const std::size_t count = std::min(members.size(), kGroupMembers);
    ok(OTF2_GlobalDefWriter_WriteGroup(writer_, group_++, shared_.strings.intern(""), type,
                                       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                       static_cast<std::uint32_t>(count), members.data()));
  }

  const std::vector<Communicator>& all_;
  Shared& shared_;
  OTF2_GlobalDefWriter* const writer_;
  OTF2_GroupRef group_;
  std::vector<std::uint64_t> locations_;
  std::map<std::uint64_t, std::uint64_t> places_;               // in locations_
  std::map<std::vector<std::uint64_t>, OTF2_GroupRef> groups_;  // written so far
};

}  // namespace

OTF2_ErrorCode write_message(OTF2_EvtWriter* writer, const Event& event, const Operands& operands,
                             OTF2_CommRef first) {
  const OTF2_TimeStamp time = ticks(event.time);
  const OTF2_CommRef communicator = first + event.ref;
  const std::uint32_t peer = operands.peer(), tag = operands.tag();
  const std::uint64_t bytes = event.value, request = operands.request();
  switch (event.kind) {
    case EventKind::kMpiSend:
      return OTF2_EvtWriter_MpiSend(writer, nullptr, time, peer, communicator, tag, bytes);
    case EventKind::kMpiRecv:
      return OTF2_EvtWriter_MpiRecv(writer, nullptr, time, peer, communicator, tag, bytes);
    case EventKind::kMpiIsend:
      return OTF2_EvtWriter_MpiIsend(writer, nullptr, time, peer, communicator, tag, bytes,
                                     request);
    case EventKind::kMpiIrecv:
      return OTF2_EvtWriter_MpiIrecv(writer, nullptr, time, peer, communicator, tag, bytes,
                                     request);
    case EventKind::kMpiIsendComplete:
      return OTF2_EvtWriter_MpiIsendComplete(writer, nullptr, time, event.value);
    case EventKind::kMpiIrecvRequest:
      return OTF2_EvtWriter_MpiIrecvRequest(writer, nullptr, time, event.value);
    case EventKind::kMpiRequestTest:
      return OTF2_EvtWriter_MpiRequestTest(writer, nullptr, time, event.value);
    case EventKind::kMpiRequestCancelled:
      return OTF2_EvtWriter_MpiRequestCancelled(writer, nullptr, time, event.value);
    case EventKind::kMpiCollectiveBegin:
      return OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, time);
    case EventKind::kMpiCollectiveEnd:
      return OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, time, operation_of(operands),
                                             communicator, operands.root(), bytes,
                                             operands.received());
    case EventKind::kMpiCollectiveRequest:
      return OTF2_EvtWriter_NonBlockingCollectiveRequest(writer, nullptr, time, event.value);
    case EventKind::kMpiCollectiveComplete:
      return OTF2_EvtWriter_NonBlockingCollectiveComplete(
          writer, nullptr, time, operation_of(operands), communicator, operands.root(), bytes,
          operands.received(), request);
    case EventKind::kCommCreate:
      return OTF2_EvtWriter_CommCreate(writer, nullptr, time, communicator);
    case EventKind::kCommDestroy:
      return OTF2_EvtWriter_CommDestroy(writer, nullptr, time, communicator);
    default: return OTF2_ERROR_INVALID_ARGUMENT;
  }
}

void intern_communicators(Shared& shared) {
  if (shared.definitions->communicators.empty()) return;
  for (const char* text : {kParadigm, kCommNames, kWindowNames}) shared.strings.intern(text);
  for (const Communicator& one : shared.definitions->communicators) {
    shared.strings.intern(one.name);
  }
}

void write_communicators(Shared& shared, OTF2_GlobalDefWriter* writer, OTF2_GroupRef group) {
  if (!shared.definitions->communicators.empty()) Communicators(shared, writer, group).write();
}

}  // namespace timeloom::otf2
