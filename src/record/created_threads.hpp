// Threads and tasks that are told apart by the number under which they were created.
//
// Any thread; nothing throws.
#pragma once

#include <cstdint>
#include <string>

namespace timeloom::record {

// A number that no other thread or task of this process has.
std::uint64_t next_creation_number() noexcept;

// The calling thread, which runs nothing of the program yet, takes part in the measurement from
// here on: under this name, as what was created as `number`. Does nothing without a measurement.
void begin_created_thread(const std::string& name, std::uint64_t number) noexcept;

// Whether the calling thread takes part.
bool thread_takes_part() noexcept;

}  // namespace timeloom::record
