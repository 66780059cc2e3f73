// How much two words differ, for lines such as "did you mean 'output'?".
//
// A pure function for any thread; throws only std::bad_alloc.
#pragma once

#include <cstddef>
#include <string_view>

namespace timeloom {

// The number of bytes to insert, delete, replace or swap with their neighbour
// (Damerau-Levenshtein). Its time grows with the product of the lengths, its memory with the length
// of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace timeloom
