#include <algorithm>

#include "profile/messages.hpp"

namespace timeloom::profile {

// The message was there when the probe ended.
bool is_probed(const MessageEnd& sent, const MessageEnd& received) noexcept {
  return received.probed && sent.entered <= received.probe_left;
}

MessageWaits waits_of(const MessageEnd& sent, const MessageEnd& received) noexcept {
  MessageWaits waits;
  const bool probed = is_probed(sent, received);
  const std::uint64_t from = probed ? received.probe_entered : received.entered;
  const std::uint64_t until = std::min(sent.entered, probed ? received.probe_left : received.left);
  waits.receiver = until - std::min(until, from);
  // Only a send that is still open when the receive starts has waited for it.
  if (sent.blocks && received.entered < sent.left) {
    waits.sender = received.entered - std::min(sent.entered, received.entered);
  }
  return waits;
}

}  // namespace timeloom::profile
