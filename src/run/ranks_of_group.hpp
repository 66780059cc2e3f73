// The ranks of one group, of a job or of a spawn, in the open directory that has their spools, from
// which no link leads out. Internal to src/run; see job.hpp and spawned.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "os/directory.hpp"
#include "run/job.hpp"

namespace timeloom::run {

// The directory of the spools of the job. A closed one: there is none, or a link to one; `error` is
// the errno value.
os::Directory open_spools(const KnownDirectory& run, int* error);
// Whether anything has the name, be it a link.
bool is_there(const os::Directory& directory, const std::string& name);
// For a directory, or a file, that cannot be made; `error` is an errno value.
[[noreturn]] void fail_to_make(const std::filesystem::path& path, int error);
// Makes a directory. 0: it is there now, also if it was before; else an errno value.
int make_in_group(const os::Directory& group, const std::string& name) noexcept;
// `where`: the path of the group, for errors.
bool take_rank_in(const os::Directory& group, const std::filesystem::path& where,
                  std::uint32_t rank);
Others end_rank_in(const os::Directory& group, std::uint32_t rank, std::uint32_t size,
                   std::chrono::milliseconds patience = {});
// Whether a process of another rank records. `or_begin`: or is about to, since its rank has its
// directory and no spool yet. Lists the group.
bool others_record(const os::Directory& group, std::uint32_t rank, bool or_begin);
// Whether there are processes in it, and none of them is left. Few are looked at.
bool is_group_gone(const os::Directory& group);

}  // namespace timeloom::run
