// The tables of `timeloom report` for one kind of records each: messages, files, GPUs, locks ...
//
// Every function writes the losses of the run and the table or, with --json, its data on standard
// output, and returns the exit status. Error names the option of `timeloom run` that records what a
// run does not have. Used by one thread.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/definitions.hpp"
#include "profile/call_tree.hpp"
#include "tools/report/report_options.hpp"
#include "tools/text/output.hpp"

namespace timeloom::tools {

// Above a table; on standard error where the output is data.
void write_losses_of(const Definitions& definitions, const ReportOptions& options, Output& output);

// From the trace, if the run has one.
int print_mpi(const ReportOptions& options, const std::filesystem::path& run);
int print_io(const ReportOptions& options, const std::filesystem::path& run);
// A profile has the times of the slowest visits only, so they need a trace.
int print_slowest(const ReportOptions& options, const std::filesystem::path& run);

// `run` is the name for errors.
int print_gpu(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run);
int print_omp(const ReportOptions& options, const profile::CallTree& tree,
              const std::filesystem::path& run);
int print_imports(const ReportOptions& options, const profile::CallTree& tree,
                  const std::filesystem::path& run);
int print_memory(const ReportOptions& options, const profile::CallTree& tree,
                 const std::filesystem::path& run);
int print_locks(const ReportOptions& options, const Definitions& definitions,
                const std::filesystem::path& run);

// The groups of --by, of the locations `ids`. REQUIRES: options.by.
int print_by(const ReportOptions& options, const profile::CallTree& tree,
             const std::set<LocationId>& ids, const std::filesystem::path& run);

}  // namespace timeloom::tools
