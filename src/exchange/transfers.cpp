#include "exchange/transfers.hpp"

#include <array>
#include <utility>

#include "core/io.hpp"
#include "core/mpi/communicator_groups.hpp"

namespace timeloom::exchange {

namespace {

TransferFact number(std::string_view name, std::uint64_t value) {
  return {name, static_cast<std::int64_t>(value)};
}

class Numbering final : public profile::MessageListener {
 public:
  explicit Numbering(const Definitions& definitions) : definitions_(definitions) {}

  void message(const profile::MessageChannel&, const profile::MessageEnd& sent,
               const profile::MessageEnd& received) override {
    ++last_;
    set(sent);
    set(received);
  }
  void collective(std::uint32_t, std::span<const profile::CollectiveVisit>) override {}

  MessageNumbers take() { return std::move(numbers_); }

 private:
  void set(const profile::MessageEnd& end) {
    std::vector<std::uint64_t>& of_location = numbers_[definitions_.locations[end.location].id];
    if (of_location.size() <= end.place) of_location.resize(end.place + 1);
    of_location[end.place] = last_;
  }

  const Definitions& definitions_;
  MessageNumbers numbers_;
  std::uint64_t last_ = 0;
};

}  // namespace

MessageNumbers number_messages(RunSource& run, unsigned threads) {
  if (run.definitions().communicators.empty()) return {};
  Numbering numbering(run.definitions());
  profile::MessageSink messages(&numbering);
  const std::array<RunSink*, 1> sinks = {&messages};
  run.replay(sinks, threads);
  return numbering.take();
}

TransferReader::TransferReader(const Definitions& definitions, const MessageNumbers& numbers,
                               LocationId location)
    : definitions_(definitions) {
  const auto found = numbers.find(location);
  if (found != numbers.end()) numbers_ = &found->second;
}

std::optional<Transfer> TransferReader::read(const Event& event) {
  if (is_mpi(event.kind)) return of_mpi(event);
  if (is_io(event.kind)) return of_io(event);
  return std::nullopt;
}

std::optional<Transfer> TransferReader::of_mpi(const Event& event) {
  if (operands_.take(event)) return std::nullopt;
  if (profile::is_message(event.kind)) return message(event);
  const bool done =
      event.kind == EventKind::kMpiCollectiveEnd || event.kind == EventKind::kMpiCollectiveComplete;
  if (done) return collective(event);
  return std::nullopt;
}

std::string TransferReader::communicator_name(std::uint32_t communicator) const {
  const auto& all = definitions_.communicators;
  const bool named = communicator < all.size() && !all[communicator].name.empty();
  return named ? all[communicator].name : "communicator " + std::to_string(communicator);
}

Transfer TransferReader::message(const Event& event) {
  const bool sent = event.kind == EventKind::kMpiSend || event.kind == EventKind::kMpiIsend;
  Transfer one{sent ? "send" : "receive", Category::kMpi};
  one.facts = {number(sent ? "to" : "from", operands_.peer()),
               number("bytes", event.value),
               number("tag", operands_.tag()),
               {"communicator", 0, communicator_name(event.ref)}};
  if (numbers_ != nullptr && messages_ < numbers_->size()) one.message = (*numbers_)[messages_];
  ++messages_;
  one.arrives = !sent;
  return one;
}

Transfer TransferReader::collective(const Event& event) const {
  Transfer one{profile::name_of(operands_.operation()), Category::kMpi};
  switch (const std::uint32_t root = operands_.root(); root) {
    case kNoRoot: break;
    case kOwnRoot: one.facts.push_back({"root", 0, "this process"}); break;
    case kRootInGroup: one.facts.push_back({"root", 0, "another of this group"}); break;
    default: one.facts.push_back(number("root", root));
  }
  one.facts.push_back(number("sent", event.value));
  one.facts.push_back(number("received", operands_.received()));
  one.facts.push_back({"communicator", 0, communicator_name(event.ref)});
  return one;
}

std::optional<Transfer> TransferReader::of_io(const Event& event) {
  const std::optional<std::int64_t> offset = std::exchange(offset_, std::nullopt);
  switch (event.kind) {
    case EventKind::kIoOffset: offset_ = event.as_int(); return std::nullopt;
    case EventKind::kIoRead:
    case EventKind::kIoWrite:
    case EventKind::kIoFlush:
      offsets_.erase(event.ref);
      if (offset) offsets_[event.ref] = *offset;
      return std::nullopt;
    case EventKind::kIoReadDone: return transferred(event, "read");
    case EventKind::kIoWriteDone: return transferred(event, "write");
    case EventKind::kIoFlushDone: return of_handle(event, "flush");
    case EventKind::kIoCreate: return of_handle(event, "open");
    case EventKind::kIoDestroy: return of_handle(event, "close");
    case EventKind::kIoDuplicate: return of_handle(event, "duplicate");
    case EventKind::kIoSeek: {
      Transfer one = of_handle(event, "seek");
      one.facts.push_back(number("offset", event.value));
      return one;
    }
    case EventKind::kIoDelete: {
      Transfer one{"delete", Category::kIo};
      if (event.value < definitions_.strings.size()) {
        one.facts.push_back({"file", 0, definitions_.strings[event.value]});
      }
      return one;
    }
    default: return std::nullopt;
  }
}

Transfer TransferReader::transferred(const Event& event, std::string_view name) {
  Transfer one = of_handle(event, name);
  if (event.value != kNoBytes) one.facts.push_back(number("bytes", event.value));
  const auto offset = offsets_.find(event.ref);
  if (offset != offsets_.end()) {
    one.facts.push_back({"offset", offset->second});
    offsets_.erase(offset);
  }
  return one;
}

Transfer TransferReader::of_handle(const Event& event, std::string_view name) const {
  Transfer one{name, Category::kIo};
  if (event.ref >= definitions_.io_handles.size()) return one;
  const IoHandle& handle = definitions_.io_handles[event.ref];
  const std::string& file = handle.file.empty() ? handle.name : handle.file;
  if (!file.empty()) one.facts.push_back({"file", 0, file});
  return one;
}

}  // namespace timeloom::exchange
