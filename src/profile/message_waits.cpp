#include <algorithm>

#include "profile/messages.hpp"

namespace timeloom::profile {

MessageWaits waits_of(const MessageEnd& sent, const MessageEnd& received) noexcept {
  MessageWaits waits;
  const std::uint64_t until = std::min(sent.entered, received.left);
  waits.receiver = until - std::min(until, received.entered);
  // Only a send that is still going on when the receive begins has waited for it.
  if (sent.blocks && received.entered < sent.left) {
    waits.sender = received.entered - std::min(sent.entered, received.entered);
  }
  return waits;
}

}  // namespace timeloom::profile
