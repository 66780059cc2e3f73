// A file of the source tree that is compiled into the program, byte by byte.
#pragma once

#include <cstddef>
#include <string_view>

// Defines the bytes of the file PATH, a string literal, as NAME_begin to NAME_end. For use in one
// .cpp file, outside of all namespaces; its CMakeLists.txt names the file among the OBJECT_DEPENDS
// of that .cpp file.
#define TIMELOOM_EMBED_FILE(NAME, PATH) \
  asm(".section .rodata\n"              \
      ".hidden " #NAME                  \
      "_begin\n"                        \
      ".hidden " #NAME                  \
      "_end\n"                          \
      ".global " #NAME                  \
      "_begin\n"                        \
      ".global " #NAME "_end\n" #NAME   \
      "_begin:\n"                       \
      ".incbin \"" PATH "\"\n" #NAME    \
      "_end:\n"                         \
      ".byte 0\n"                       \
      ".previous\n");                   \
  extern "C" const char NAME##_begin[]; \
  extern "C" const char NAME##_end[]

// The text of the embedded file, as a string_view. The byte after it is 0.
#define TIMELOOM_EMBEDDED_TEXT(NAME) \
  std::string_view(NAME##_begin, static_cast<std::size_t>(NAME##_end - NAME##_begin))
