// The arguments of a program as a run records them (--record-arguments): a run is given to
// others, and a command line may hold passwords. docs/run.md has the rules and the names.
//
// Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace timeloom {

enum class RecordArguments : std::uint8_t { kAll, kMasked, kNone };

// The choice for a value of the setting; every value but "all" and "none" masks.
RecordArguments record_arguments_of(std::string_view value) noexcept;

// The words of a command line as they are to be recorded. Of kNone the first `named` words
// remain, which name the program.
std::vector<std::string> recorded_arguments(std::vector<std::string> words, RecordArguments which,
                                            std::size_t named);

// The secrets of a command line that are long enough to be found again in other texts, the longest
// first.
std::vector<std::string> secrets_in(std::vector<std::string> words);

// The text without them. One of letters alone is masked where it is a word, not within one.
std::string without_secrets(std::string text, std::span<const std::string> secrets);

}  // namespace timeloom
