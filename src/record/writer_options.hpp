// The sizes of the ring and of the segments of a spool. Pure functions, for any thread; they do
// not throw.
#pragma once

#include <cstdint>
#include <string_view>

#include "spool/size_limit.hpp"
#include "spool/writer.hpp"

namespace timeloom::record {

// The policy that a value of the setting at-max-size stands for.
AtLimit at_limit_of(std::string_view policy) noexcept;

// `buffer_size`, `max_size`: of the settings of these names, in bytes; a max_size of 0 means no
// limit.
spool::WriterOptions writer_options(std::uint64_t buffer_size, std::uint64_t max_size,
                                    AtLimit at_max_size, bool profile) noexcept;
// When full segments are packed. `given`: whether the setting pack-early was; then `wanted` is its
// value. `limited`: the overhead of the run is limited, and packing takes CPU time.
spool::PackEarly pack_early_of(bool given, bool wanted, bool limited) noexcept;
// The options of a forked child: a small ring, which grows when it has to.
spool::WriterOptions writer_options_of_child(spool::WriterOptions parent) noexcept;

}  // namespace timeloom::record
