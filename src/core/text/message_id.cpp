#include "core/text/message_id.hpp"

#include <algorithm>

namespace timeloom {

std::string_view without_id(std::string_view message) noexcept {
  constexpr std::string_view kForm = " [TL000]";
  if (message.size() < kForm.size()) return message;
  const std::string_view end = message.substr(message.size() - kForm.size());
  const bool is_id = std::ranges::equal(end, kForm, [](char found, char form) {
    return form == '0' ? found >= '0' && found <= '9' : found == form;
  });
  if (is_id) message.remove_suffix(kForm.size());
  return message;
}

}  // namespace timeloom
