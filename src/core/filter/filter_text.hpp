// The choices of a filter as text, one a line: `timeloom run --program` passes them to the program
// that it starts, which makes its filter from them. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/filter/filter.hpp"

namespace timeloom {

// `filter_file`: the path of the file that choices.file was read from; empty: none. The directory
// of Python's library and the choice about imports are left out.
std::string filter_text(const FilterChoices& choices, const std::string& filter_file);

// The choices in such a text, with the contents of the filter file, which is read. Unknown lines
// are skipped. Throws Error if the file cannot be read.
FilterChoices filter_choices_in(std::string_view text);

}  // namespace timeloom
