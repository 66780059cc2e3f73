// `timeloom report --mpi`: time in MPI by function and by caller, the bytes that each process sent
// to each other, waiting, and how evenly the work is spread over the processes.
//
// Plain values made from a CallTree and the messages of a trace. Throw std::bad_alloc; functions
// that write throw as Output does, too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/io.hpp"
#include "core/mpi/mpi_event.hpp"
#include "core/mpi/one_sided_metrics.hpp"
#include "profile/call_tree.hpp"
#include "profile/messages.hpp"
#include "tools/report/mpi/mpi_efficiency.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Over processes, in seconds; `process` is the one with the longest time.
struct Spread {
  double least = 0, mean = 0, most = 0;
  std::uint32_t process = 0;
  double sum() const noexcept { return mean * static_cast<double>(processes); }
  std::size_t processes = 0;
};

struct MpiRow {
  std::string name;  // of a function, or of a call path
  std::uint64_t visits = 0;
  Spread time;
};

// The metrics of bytes, in pairs (bytes that leave the process, bytes that enter it): messages and
// collective operations, one-sided communication, files.
inline constexpr std::array<const char*, 6> kMovedBytes = {
    kBytesSent, kBytesReceived, kBytesPut, kBytesGot, kIoBytesWritten, kIoBytesRead};

// The bytes that a function of MPI has moved, in all processes.
struct MovedRow {
  std::string name;
  std::array<std::uint64_t, kMovedBytes.size()> bytes{};  // by kMovedBytes
  std::uint64_t out() const noexcept { return bytes[0] + bytes[2] + bytes[4]; }
  std::uint64_t in() const noexcept { return bytes[1] + bytes[3] + bytes[5]; }
};

struct MpiFacts {
  std::vector<std::string> processes;  // their names, by their places
  double total = 0;                    // seconds of all processes, in and out of MPI
  Spread in_mpi, outside;
  std::vector<MpiRow> functions;  // of MPI, with what they call
  std::vector<MpiRow> callers;    // call paths that call MPI, by the time there
  std::vector<MpiRow> balance;    // other functions, by their own time
  std::vector<MovedRow> moved;    // functions of MPI, by their bytes
  profile::MessageSummary messages;
  double tick_seconds = 1e-9;
  std::optional<MpiEfficiency> efficiency;
};

MpiFacts mpi_facts(const profile::CallTree& tree, const profile::MessageSummary& messages);

void write_mpi(const MpiFacts& facts, const Terminal& terminal, Output& output);
void write_mpi_json(const MpiFacts& facts, Output& output);

}  // namespace timeloom::tools
