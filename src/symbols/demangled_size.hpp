// An upper bound for the text that a mangled name of C++ stands for, so that a name of a few
// hundred bytes that stands for gigabytes is never given to the demangler.
//
// The name refers to parts of itself (S_, S0_ …, T_ …), and a part that refers to another one twice
// is twice as long. The bound follows the grammar of the Itanium ABI as far as the parts need it. A
// reference counts as the longest part so far or, where the grammar is not followed, as the whole
// text so far. Pure, for any thread; takes time in proportion to the length of the name.
#pragma once

#include <cstdint>
#include <string_view>

namespace timeloom::symbols {

// The bound in bytes; UINT64_MAX stands for any that is larger.
std::uint64_t most_demangled(std::string_view mangled) noexcept;

}  // namespace timeloom::symbols
