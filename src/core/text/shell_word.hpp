// A text as one word of a POSIX shell. A pure function, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace timeloom {

// The text itself if a shell reads it as one word, else the text in quotes.
std::string shell_word(std::string_view text);

}  // namespace timeloom
