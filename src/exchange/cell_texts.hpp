// The texts that the cells of a column have, each once and as UTF-8: a cell is the place of one.
//
// One thread adds; when it is done, any number may read. Nothing throws but what memory can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace timeloom::exchange {

class Words {
 public:
  Words() = default;
  Words(const Words&) = delete;  // the places refer to the texts
  Words& operator=(const Words&) = delete;

  // The place of a text, be it no UTF-8; the same one for what is the same as UTF-8.
  std::uint32_t add(std::string_view text);

  const std::string& operator[](std::uint32_t place) const { return texts_[place]; }
  const std::deque<std::string>& all() const noexcept { return texts_; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

}  // namespace timeloom::exchange
