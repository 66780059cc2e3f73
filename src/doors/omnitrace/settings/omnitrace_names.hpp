// The names of the files that Omnitrace writes: OMNITRACE_OUTPUT_PATH, _OUTPUT_PREFIX,
// _TIME_OUTPUT, _USE_PID, _PERFETTO_FILE, and the keys in them (%tag%, %pid%, %env{NAME}%, ...).
//
// The value of a key never leads to another directory: a slash in it becomes '_'. Nor do
// prefixes and relative names of the trace: ".." in them becomes '_'. Plain values and functions,
// for any thread; only facts_of_this_process() looks at the system.
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doors/omnitrace/settings/omnitrace_settings.hpp"

namespace timeloom {

// The facts that names are made of.
struct OmnitraceFacts {
  std::vector<std::string> command;  // the script and its arguments
  std::uint64_t process = 0;
  std::uint64_t parent = 0;
  std::uint64_t group = 0;
  std::uint64_t session = 0;
  std::time_t launch = 0;
  std::optional<std::uint64_t> rank;  // of MPI
  std::uint64_t ranks = 1;
  std::function<std::string(std::string_view)> variable;  // of the environment; empty: none
};

// The facts of the process that asks; `environment` is like environ(7) and outlives the result.
OmnitraceFacts facts_of_this_process(std::vector<std::string> command,
                                     const char* const* environment);

struct OmnitracePlace {
  std::string directory;
  std::string prefix;    // of names in it; may have a slash
  std::string suffix;    // "-4711"; empty: none
  std::string perfetto;  // OMNITRACE_PERFETTO_FILE; may be an absolute path
};

OmnitracePlace place_of(const OmnitraceSettings& omnitrace, const OmnitraceFacts& facts);

// "wall_clock" and "txt" as the name of a file in the directory.
std::string file_name(const OmnitracePlace& place, std::string_view name,
                      std::string_view extension);

// The same for the Perfetto trace.
std::string perfetto_file_name(const OmnitracePlace& place);

// The place as a text without its directory, and the place in such a text; throws Error for any
// other text, and for names that lead out of the directory, except for an absolute path of the
// trace.
std::string as_text(const OmnitracePlace& place);
OmnitracePlace place_from_text(std::string_view text);

// Makes the directory, with its parents. One that cannot be written is replaced by ".": the result
// is then a line about this, or about the other user to whom the directory belongs. `told`: the
// user knows already who may change the files.
std::string make_place(OmnitracePlace& place, bool told = false);

// The description of a run whose files get these names.
RunDescription describe(const OmnitraceSettings& omnitrace, const OmnitracePlace& place);

// The text with the values in place of its keys.
std::string with_keys(std::string_view text, const OmnitraceSettings& omnitrace,
                      const OmnitraceFacts& facts);

// The MD5 checksum of the text, 16 bytes in hexadecimal digits.
std::string md5(std::string_view text);

}  // namespace timeloom
