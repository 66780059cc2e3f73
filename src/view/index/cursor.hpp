// Goes through the events of a track, block by block.
//
// A token of a block is a varint: ticks since the event before (in the first of a block, since the
// time of the block) * 4 + kind. Operands follow as varints:
// 0  enter   position among the children of the innermost open node; if that node has no region,
//            the region
// 1  leave
// 2  other   EventKind, reference, value. kWaiting: of the ticks since the event before, `value`
//            were waiting of the WaitingCause `reference`; it is not an event of the run. Tokens
//            that follow without ticks between them are further causes of the same stretch
// 3          recording is switched off, or on again
// There are no nodes below a node without a region: an enter there is child 0 and stays in it.
//
// Used by one thread; the track outlives it. Throws Error where the file is damaged.
#pragma once

#include <cstdint>
#include <vector>

#include "core/event.hpp"
#include "view/index/track.hpp"
#include "view/index/waited.hpp"

namespace timeloom::view {

enum class Token : std::uint8_t { kEnter, kLeave, kOther, kSwitch };

class Cursor {
 public:
  // Positions the cursor before the first event of the block.
  Cursor(const Track& track, std::uint32_t block) : track_(&track) {
    open_ = track.frames_at(block);
    read(block);
  }
  Cursor(Cursor&&) = default;
  Cursor& operator=(Cursor&&) = default;

  // Goes on to the next event of the block; false: there is none.
  bool next() {
    if (in_.at_end()) return false;
    const std::uint64_t head = in_.varint();
    const std::uint64_t before = time_;
    time_ += head >> 2;
    if (time_ > kLastTime) damaged();
    token_ = static_cast<Token>(head & 3);
    switch (token_) {
      case Token::kEnter:
        frame_ = track_->read_enter(in_, open_, time_);
        open_.push_back(frame_);
        break;
      case Token::kLeave:
        if (open_.empty()) damaged();
        frame_ = open_.back();
        open_.pop_back();
        break;
      case Token::kOther:
        event_.time = Timestamp{time_};
        event_.kind = static_cast<EventKind>(in_.byte());
        event_.ref = in_.varint32();
        event_.value = in_.varint();
        if (is_waiting()) read_waiting(before);
        break;
      case Token::kSwitch: off_ = !off_; break;
    }
    return true;
  }
  // Goes on to the next block; false: there is none. REQUIRES: next() was false.
  bool next_block() {
    if (block_ + 1 >= track_->blocks().size()) return false;
    const std::uint64_t last = time_;
    read(block_ + 1);
    if (time_ < last || open_.size() != track_->blocks()[block_].depth) damaged();
    return true;
  }
  // Goes to the next event of this block or of the following ones.
  bool next_of_track() {
    while (!next()) {
      if (!next_block()) return false;
    }
    return true;
  }

  Token token() const noexcept { return token_; }
  std::uint64_t time() const noexcept { return time_; }   // of the event
  const Frame& frame() const noexcept { return frame_; }  // entered or left
  // REQUIRES: token() is Token::kOther. Its time counts like all times of the index.
  const Event& other() const noexcept { return event_; }
  // True for the waiting of a stretch, which is not an event.
  bool is_waiting() const noexcept {
    return token_ == Token::kOther && event_.kind == EventKind::kWaiting;
  }
  // The waiting since the event before, of all causes. REQUIRES: is_waiting().
  const Waited& waited() const noexcept { return waited_; }
  const std::vector<Frame>& open() const noexcept { return open_; }  // after the event
  bool off() const noexcept { return off_; }                         // after the event
  std::uint32_t block() const noexcept { return block_; }

 private:
  // Reads all causes of the stretch since `begin`, of which event_ is the first.
  void read_waiting(std::uint64_t begin) {
    waited_ = {begin, time_, {}};
    for (std::uint64_t left = time_ - begin;;) {
      if (event_.ref >= kWaitingCauses || event_.value > left) damaged();
      waited_.ticks[event_.ref] += event_.value;
      left -= event_.value;
      ByteReader next = in_;
      if (next.at_end() || next.varint() != static_cast<std::uint64_t>(Token::kOther)) return;
      if (next.byte() != static_cast<std::uint8_t>(EventKind::kWaiting)) return;
      event_.ref = next.varint32();
      event_.value = next.varint();
      in_ = next;
    }
  }
  void read(std::uint32_t block) {
    const BlockRecord& record = track_->blocks()[block];
    track_->file().read(record.offset + padded(record.frame_bytes), record.token_bytes,
                        record.token_check, words_);
    in_ = ByteReader(bytes_of(words_), record.token_bytes);
    block_ = block;
    time_ = record.time;
    off_ = record.off != 0;
  }

  const Track* track_;
  std::vector<Frame> open_;
  Words words_;
  ByteReader in_;
  std::uint32_t block_ = 0;
  std::uint64_t time_ = 0;
  Token token_ = Token::kOther;
  Waited waited_;
  Frame frame_;
  Event event_;
  bool off_ = false;
};

}  // namespace timeloom::view
