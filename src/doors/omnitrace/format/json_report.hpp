// A report as JSON, in the shape that readers of timemory know: a list of rows, and a tree in which
// the rows of all threads are merged.
//
// Plain functions, one thread. Throws what `write` throws.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "doors/omnitrace/format/omnitrace_metric_rows.hpp"

namespace timeloom::omnitrace {

struct JsonProcess {
  std::vector<std::uint64_t> ids;  // several: their rows are one
  std::uint64_t rank = 0;
};

// `tree`: rows of all threads merged, with Rows::threads. The list and the tree are written only as
// the style asks for them.
void write_json_report(const MetricRows& flat, const MetricRows& tree, const ReportStyle& style,
                       const JsonProcess& process, const TextWriter& write);

// The tree alone, with the rows of each thread apart, in the form in which hatchet reads runs with
// several threads and ranks.
void write_json_tree(const MetricRows& rows, const ReportStyle& style, const JsonProcess& process,
                     const TextWriter& write);

// Rows of differences, as a list alone.
void write_json_difference(const MetricRows& of, const std::vector<TextRow>& rows,
                           const ReportStyle& style, const JsonProcess& process,
                           const TextWriter& write);

// The number that stands for a label. An empty label has 0, as the root of a tree has.
std::uint64_t hash_of(std::string_view label) noexcept;

}  // namespace timeloom::omnitrace
