// The texts of a column, each once and as UTF-8. A cell is an index into them.
//
// One thread adds texts; afterwards any number of threads may read. Throws only std::bad_alloc.
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
  Words(const Words&) = delete;  // the map refers to the texts
  Words& operator=(const Words&) = delete;

  // The index of a text, which may be invalid UTF-8. Texts with the same UTF-8 form share an index.
  std::uint32_t add(std::string_view text);

  const std::string& operator[](std::uint32_t place) const { return texts_[place]; }
  const std::deque<std::string>& all() const noexcept { return texts_; }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> places_;
};

}  // namespace timeloom::exchange
