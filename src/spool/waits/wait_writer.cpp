#include "spool/waits/wait_writer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace timeloom::spool {

std::optional<WaitWriter> WaitWriter::create(const KnownDirectory& spool, bool packs) {
  int error = 0;
  os::File file = spool.create_file(kWaitFile, &error);
  if (error != 0) return {};
  WaitHeader header{kWaitMagic, packs ? kPackedWaitVersion : kWaitVersion, 0, 0};
  header.check = checksum(reinterpret_cast<const std::byte*>(&header), sizeof header - 4);
  if (file.write_at(0, std::as_bytes(std::span(&header, 1))) != 0) {
    (void)spool.remove_file(kWaitFile);  // a file without a head would count as damaged
    return {};
  }
  WaitWriter writer(std::move(file));
  writer.size_ = sizeof header;
  if (packs) writer.packer_.begin();
  return writer;
}

void WaitWriter::put(WaitBlockKind kind, const void* payload, std::size_t size) {
  const std::size_t words = size / 8;
  const std::size_t head = pending_.size();
  pending_.resize(head + sizeof(WaitBlock) / 8 + words);
  std::uint64_t* const to = pending_.data() + head + sizeof(WaitBlock) / 8;
  std::memcpy(to, payload, size);
  const WaitBlock block{kind, static_cast<std::uint32_t>(size), wait_check(kind, {to, words})};
  std::memcpy(pending_.data() + head, &block, sizeof block);
}

void WaitWriter::put_gil(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t range[2] = {from, to};
  put(WaitBlockKind::kGil, range, sizeof range);
}

void WaitWriter::put_hidden() {
  const std::uint64_t zero = 0;
  put(WaitBlockKind::kHidden, &zero, sizeof zero);
}

void WaitWriter::put_spans(std::span<const WaitSpan> spans) {
  const auto packed = packer_.pack(std::as_bytes(spans));
  if (packed.empty()) {
    put(WaitBlockKind::kSpans, spans.data(), spans.size_bytes());
  } else {
    put(WaitBlockKind::kPacked, packed.data(), packed.size());
  }
}

// The count of lost spans stays in the file, which has room for it behind its last block.
void WaitWriter::flush() {
  constexpr std::size_t kMost = kLargestWaitBlock / sizeof(WaitSpan);
  const bool full = size_ + spans_.size() * sizeof(WaitSpan) > kLargest;
  if (ended_ || full) {
    lost_ += spans_.size();
    if (!ended_) put(WaitBlockKind::kLost, &lost_, sizeof lost_);
  } else {
    for (std::size_t i = 0; i < spans_.size(); i += kMost) {
      put_spans(std::span(spans_).subspan(i, std::min(kMost, spans_.size() - i)));
    }
  }
  const auto bytes = std::as_bytes(std::span(pending_));
  if (!ended_ && !bytes.empty()) {
    ended_ = file_.write_at(size_, bytes) != 0;
    if (ended_) {
      (void)file_.truncate(size_);
    } else {
      size_ += bytes.size();
    }
  }
  ended_ = ended_ || full;
  spans_.clear();
  pending_.clear();
}

}  // namespace timeloom::spool
