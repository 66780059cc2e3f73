// `timeloom report --io`: reads and writes, by file and by call path, from a trace; from a profile
// by call path only.
//
// A sink for the events of a run, which follows the rules of RunSink; its results are for one
// thread, after finish() or add_profile(). write() and write_json() throw Error as Output does.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/event.hpp"
#include "core/io.hpp"
#include "profile/call_tree.hpp"
#include "tools/text/output.hpp"
#include "tools/text/terminal.hpp"

namespace timeloom::tools {

// Transfers of one kind.
struct IoFigures {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;  // the sum of the times from start to end
  std::uint64_t smallest = UINT64_MAX;
  std::uint64_t largest = 0;

  void add(std::uint64_t size, std::uint64_t time) noexcept;
  void add(const IoFigures& other) noexcept;
};

// The target of a read or write: the path of a file, or the name of a pipe or socket.
struct IoTarget {
  std::string name;
  IoParadigm interface = IoParadigm::kPosix;
  IoOperation operation = IoOperation::kRead;
  auto operator<=>(const IoTarget&) const = default;
};

// The regions from the outermost to the function of the library, and the operation of that
// function.
struct IoCallPath {
  std::vector<std::uint32_t> regions;
  IoOperation operation = IoOperation::kRead;
  auto operator<=>(const IoCallPath&) const = default;
};

class IoReport final : public RunSink {
 public:
  // `locations`: only these.
  explicit IoReport(std::set<LocationId> locations) : locations_(std::move(locations)) {}

  void begin(const Definitions& definitions) override { definitions_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location& location) override;
  void finish() override {}

  // In place of events: calls are visits then, with the whole time of the call, and their sizes are
  // not known. REQUIRES: no events; the tree outlives this.
  void add_profile(const profile::CallTree& tree);

  const std::map<IoTarget, IoFigures>& targets() const { return targets_; }
  const std::map<IoCallPath, IoFigures>& call_paths() const { return call_paths_; }
  // Sentences about reads and writes that take time needlessly.
  std::vector<std::string> notes() const;

  void write(const Terminal& terminal, Output& output) const;
  void write_json(Output& output) const;

 private:
  class OneLocation;
  std::string name_of_path(const IoCallPath& path) const;
  void write_files(const Terminal& terminal, Output& output) const;

  std::set<LocationId> locations_;
  const Definitions* definitions_ = nullptr;
  bool of_profile_ = false;
  std::mutex mutex_;
  std::map<IoTarget, IoFigures> targets_;
  std::map<IoCallPath, IoFigures> call_paths_;
};

}  // namespace timeloom::tools
