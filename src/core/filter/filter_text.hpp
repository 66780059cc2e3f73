// The choices of a filter as text, one a line, for a program whose own process makes the filter.
// Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/filter/filter.hpp"

namespace timeloom {

// `filter_file`: the path of the file that choices.file was read from; empty: none. The directory
// of Python's library and the choice about imports are left out.
std::string filter_text(const FilterChoices& choices, const std::string& filter_file);

// The opposite: reads the filter file. Lines of another kind are skipped. Throws Error if the file
// cannot be read.
FilterChoices filter_choices_in(std::string_view text);

}  // namespace timeloom
