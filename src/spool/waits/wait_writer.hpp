// Appends to the file `waits` of a spool, with one write for each batch.
//
// Owned by a WaitWatch. Not synchronised. Functions throw nothing but std::bad_alloc; a write that
// fails ends the file, and so does its largest size: later spans count as lost.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/known_directory.hpp"
#include "os/file.hpp"
#include "spool/packed_rows.hpp"
#include "spool/waits/wait_format.hpp"

namespace timeloom::spool {

class WaitWriter {
 public:
  // A program of 8 threads that wait and run by turns all the time fills it in about two hours.
  static constexpr std::uint64_t kLargest = std::uint64_t{256} << 20;  // bytes

  // Creates the file in the spool; empty on failure. `packs`: the spans are packed; batches that do
  // not get smaller stay as they are.
  static std::optional<WaitWriter> create(const KnownDirectory& spool, bool packs = false);

  void add(const WaitSpan& span) { spans_.push_back(span); }
  std::size_t pending() const noexcept { return spans_.size(); }
  void put_gil(std::uint64_t from, std::uint64_t to);
  void put_hidden();
  void put_load(const WaitLoad& load) { put(WaitBlockKind::kLoad, &load, sizeof load); }
  void flush();
  void close() noexcept { file_.close(); }

 private:
  explicit WaitWriter(os::File file) : file_(std::move(file)) {}
  void put(WaitBlockKind kind, const void* payload, std::size_t size);
  void put_spans(std::span<const WaitSpan> spans);

  os::File file_;
  std::uint64_t size_ = 0;  // of the file
  bool ended_ = false;
  std::uint64_t lost_ = 0;
  std::vector<std::uint64_t> pending_;  // blocks that are to be written
  std::vector<WaitSpan> spans_;
  RecordPacker packer_;
};

}  // namespace timeloom::spool
