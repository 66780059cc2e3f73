// The arguments of a program as a run records them (--record-arguments): a run is given to
// others, and a command line may hold passwords. docs/run.md has the rules and the names.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

enum class RecordArguments : std::uint8_t { kAll, kMasked, kNone };

inline constexpr char kMask[] = "***";

// Of a value of the setting; everything but "all" and "none" masks.
RecordArguments record_arguments_of(std::string_view value) noexcept;

// Whether the value of an option with this name, with or without its dashes, is a secret.
bool is_name_of_secret(std::string_view option);

// The words of a command line as they are to be recorded. Of kNone the first `named` words
// remain, which name the program.
std::vector<std::string> recorded_arguments(std::vector<std::string> words, RecordArguments which,
                                            std::size_t named);

}  // namespace timeloom
