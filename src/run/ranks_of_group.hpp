// The ranks of one group, a job or a spawn, in the open directory of their spools; links in it are
// not followed. Internal to src/run; see job.hpp and spawned_group.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "os/directory.hpp"
#include "run/job.hpp"

namespace timeloom::run {

// The directory of the job's spools. A closed object: it does not exist or is a link; `error` gets
// the errno value.
os::Directory open_spools(const KnownDirectory& run, int* error);
// Whether an entry has the name, even a link.
bool is_there(const os::Directory& directory, const std::string& name);
// Throws the error for a directory or file that cannot be made; `error` is an errno value.
[[noreturn]] void fail_to_make(const std::filesystem::path& path, int error);
// Makes a directory. 0: it exists now, even if it existed before; else an errno value.
int make_in_group(const os::Directory& group, const std::string& name) noexcept;
// Makes the directory of a rank. False: it was there before, so the rank is taken. Throws as
// fail_to_make() does. `where`: the path of the group, for errors.
bool take_rank_in(const os::Directory& group, const std::filesystem::path& where,
                  std::uint32_t rank);
Others end_rank_in(const os::Directory& group, std::uint32_t rank, std::uint32_t size,
                   std::chrono::milliseconds timeout = {});
// Whether a process of another rank records. With `or_begin`, also a rank that has its directory
// but no spool yet counts. Lists the group.
bool others_record(const os::Directory& group, std::uint32_t rank, bool or_begin);
// Whether the group has had processes and all of them have ended. Looks at a few of them only.
bool is_group_gone(const os::Directory& group);

}  // namespace timeloom::run
