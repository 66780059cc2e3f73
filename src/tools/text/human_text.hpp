// Numbers and names as a person reads them.
//
// Plain functions without state. They throw only std::bad_alloc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text/count_text.hpp"
#include "core/text/plain_text.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Three significant digits in s, ms, us or ns: "12.4s", "824ms"; whole seconds
// from 1000 on. `gap` stands between number and unit.
std::string duration(double seconds, const Terminal& terminal, std::string_view gap = "");

// "1,234,567".
inline std::string count(std::uint64_t number) { return grouped(number); }

// Exact below a million, three significant digits above: "999,999", "1.23M".
std::string short_count(std::int64_t number);

// The same for visits; `at_least`: of a function that was not timed to the end.
std::string visits_text(std::int64_t visits, bool at_least, const Terminal& terminal);

// "12.3%", "100%".
std::string percent(double share);

// Decimal units: "1.2 kB".
inline std::string bytes(std::uint64_t size) { return size_text(size); }

// "2 threads", "2 threads and 8 tasks", "2 threads and 8 tasks on 3 lanes".
std::string threads_and_tasks(std::uint64_t threads, std::uint64_t tasks, std::uint64_t lanes);

// The time in the local zone: "2026-01-31 17:05:59". Nanoseconds since 1970.
std::string local_time(std::uint64_t realtime);
// The same in UTC: "2026-01-31T16:05:59.123Z".
std::string iso_time(std::uint64_t realtime);

// Columns that UTF-8 text takes.
std::size_t columns(std::string_view text);

// Shortens from the left to `width` columns, if possible at the start of a part
// of a dotted name, whose end tells most: "...Solver.step".
std::string shorten_left(std::string_view text, std::size_t width, const Terminal& terminal);
// As many of the last parts of a path as fit: "json/encoder.py:183".
std::string shorten_path(std::string_view path, std::size_t width, const Terminal& terminal);
// Leaves out the first directories of an absolute path, or the middle of a file name that is too
// long by itself.
std::string shorten_file(std::string_view path, std::size_t width, const Terminal& terminal);
// Shortens from the right.
std::string shorten_right(std::string_view text, std::size_t width, const Terminal& terminal);

std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);

}  // namespace timeloom::tools
