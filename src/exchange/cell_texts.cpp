#include "exchange/cell_texts.hpp"

#include <utility>

#include "exchange/format_text.hpp"

namespace timeloom::exchange {

std::uint32_t Words::add(std::string_view text) {
  std::string clean = utf8(text);
  const auto found = places_.find(clean);
  if (found != places_.end()) return found->second;
  const auto place = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(std::move(clean));
  places_.emplace(texts_.back(), place);
  return place;
}

}  // namespace timeloom::exchange
