// Words in a row, with something between them: "a, b, c".
//
// A pure function for any thread; throws only std::bad_alloc.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace timeloom {

// `word` makes the text of an element.
template <typename Range, typename Word = std::identity>
std::string joined(const Range& range, std::string_view between = ", ", Word word = {}) {
  std::string text;
  bool first = true;
  for (const auto& element : range) {
    if (!first) text += between;
    text += std::invoke(word, element);
    first = false;
  }
  return text;
}

}  // namespace timeloom
