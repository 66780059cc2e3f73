// LLVM's OpenMP runtime, for `thread=omp:libomp`. Main thread; throws std::bad_alloc.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace timeloom {

// The line about the runtime that takes the place of GNU's, and the line where there is none.
inline constexpr char kOpenMpReplaced[] =
    "--thread omp:libomp: LLVM's OpenMP runtime serves code of GNU's, too; it places threads, lets "
    "them wait and forks in other ways";
inline constexpr char kOpenMpMissing[] =
    "--thread omp:libomp: LLVM's OpenMP runtime is not installed (libomp5 of Debian, cmeel-libomp "
    "of "
    "PyPI); the program runs with its own";

// Names of the runtime's files.
inline constexpr std::string_view kLlvmOpenMp[] = {"libomp.so.5", "libomp.so", "libiomp5.so"};

// The file of the runtime that the dynamic linker finds, or of one in these directories; empty:
// there is none. It is loaded for a moment.
std::string llvm_openmp_file(std::span<const std::string> directories);

}  // namespace timeloom
