#include "view/page/page.hpp"

#include <cstddef>

// The file without changes, between two symbols.
// clang-format off
asm(".section .rodata\n"
    ".hidden timeloom_page_begin\n"
    ".hidden timeloom_page_end\n"
    ".global timeloom_page_begin\n"
    ".global timeloom_page_end\n"
    "timeloom_page_begin:\n"
    ".incbin \"" TIMELOOM_PAGE "\"\n"
    "timeloom_page_end:\n"
    ".byte 0\n"
    ".previous\n");
// clang-format on

extern "C" const char timeloom_page_begin[];
extern "C" const char timeloom_page_end[];

namespace timeloom::view {

std::string_view page() noexcept {
  return {timeloom_page_begin, static_cast<std::size_t>(timeloom_page_end - timeloom_page_begin)};
}

}  // namespace timeloom::view
