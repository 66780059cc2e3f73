// Threads and tasks that are told apart by the number under which they were created.
//
// Any thread; nothing throws, but where noted.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace timeloom::record {

class Track;

// A number that no other thread or task of this process has.
std::uint64_t next_creation_number() noexcept;

// The calling thread, which runs nothing of the program yet, takes part in the measurement from
// here on: under this name, as the thread that was created with this `number`. Does nothing without
// a measurement.
void begin_created_thread(const std::string& name, std::uint64_t number) noexcept;

// "libgomp thread 2": the name of a further thread that native code of the library has created. A
// forked child counts anew. Throws std::bad_alloc.
std::string next_thread_name(const std::string& library);
// The calling thread takes part in the measurement from here on, under this name, unless it does
// already. Nothing is known of its creation.
void attach_as(const std::string& name) noexcept;

// Before stop(): threads that an interpreter ran (note_creation() in measurement.hpp) end with
// their last event, unless they are among those that it still runs, which are given by their
// pthread ids: it knows before the system that a thread has ended. REQUIRES: the others record
// nothing more.
void end_interpreted_threads_but(const std::set<std::uintptr_t>& running) noexcept;

// Gives the location of a task's track another name in the run. REQUIRES: the measurement runs that
// the track was made in.
void rename_track(const Track& track, const std::string& name) noexcept;

// Whether the calling thread takes part.
bool thread_takes_part() noexcept;

}  // namespace timeloom::record
