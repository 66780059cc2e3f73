// A text as one word of a POSIX shell. A pure function, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace timeloom {

// As it is where that is one word, else in quotes.
std::string shell_word(std::string_view text);

}  // namespace timeloom
