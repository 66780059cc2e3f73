// The limit of the space that the spools of a run take on disk (--max-size).
//
// The processes of a run share no counter and no lock. Each writes its log in files of one
// size, and adds up the files of all processes before it starts the next one. If the newest
// events are to be kept, it removes the oldest files of any process, but never a file to
// which a process still appends.
//
// Plain functions; any thread may call them. None throws.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/known_directory.hpp"

namespace timeloom {

// The policy of a run that has reached its size limit (--at-max-size).
enum class AtLimit : std::uint8_t {
  kStop,        // stop recording
  kKeepNewest,  // drop the oldest events
  kAggregate,   // add later events to a profile only
};

}  // namespace timeloom

namespace timeloom::spool {

struct SizeLimit {
  std::uint64_t bytes = 0;  // of logs, rings and files of GPUs of all processes; 0: none
  AtLimit at_limit = AtLimit::kStop;
};

// Names of the log files of one process: "log", then "log-1", "log-2" …
std::string log_name(std::uint32_t number);
std::optional<std::uint32_t> log_number(std::string_view name) noexcept;

// The size in bytes at which a log file is followed by the next one.
std::uint64_t log_file_size(const SizeLimit& limit, std::uint32_t segment_size) noexcept;

// Whether the process whose spool is `own`, in the directory of all spools, may take `bytes` more
// for a new file. If the newest events are to be kept, removes old files to make space, and adds
// the number of their events to `dropped`.
bool take_space(const SizeLimit& limit, const KnownDirectory& spools, const std::string& own,
                std::uint64_t bytes, std::uint64_t file_size,
                std::atomic<std::uint64_t>& dropped) noexcept;

}  // namespace timeloom::spool
