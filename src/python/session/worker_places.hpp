// The setting `workers`: whether a process that a measured one has started is measured. Each such
// process appends a byte to the file `workers` beside the spools, by which the processes of an
// engine are numbered in the order of their starts. python/timeloom_follow.py does the same for
// processes that are not forked, without this extension.
//
// Any thread; nothing throws but std::bad_alloc. The files may have been changed by anybody who may
// write into the run.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/known_directory.hpp"
#include "settings/settings.hpp"

namespace timeloom::python {

// Whether this process, which was forked, is to be measured. `spools`: the directory of the spools.
// Otherwise it has been counted as left out. Called once in a process.
bool takes_place(const Settings& settings, const KnownDirectory& spools);

// Counts a worker that is not measured.
void note_left_out(const KnownDirectory& spools) noexcept;

// Counts so many sub-interpreters that are not recorded, in the same file.
void note_sub_interpreters(const KnownDirectory& spools, std::uint64_t count) noexcept;

// Called before a measured process ends by os._exit(); null: nothing to do. Another thread may
// reset it at any time.
extern std::atomic<void (*)() noexcept> g_before_exit;

}  // namespace timeloom::python
