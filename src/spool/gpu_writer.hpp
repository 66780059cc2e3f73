// Appends to the file `gpu` of a spool: the definitions that records need, then the records, with
// one write for each batch.
//
// One object for each measurement. Not synchronised; the caller holds a lock. Functions throw
// nothing but std::bad_alloc; a write that fails ends the file, and later records count as lost.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/known_directory.hpp"
#include "os/file.hpp"
#include "spool/gpu_format.hpp"
#include "spool/packed_rows.hpp"

namespace timeloom::spool {

class GpuWriter {
 public:
  // Creates the file in the spool; nullptr on failure, with an errno value. `packs`: the records
  // are packed; batches that do not get smaller stay as they are.
  static std::unique_ptr<GpuWriter> create(const KnownDirectory& spool, int* error,
                                           bool packs = false);
  // The file does not grow beyond that many bytes: a write that would ends it, with EFBIG.
  void limit(std::uint64_t bytes) noexcept { most_bytes_ = bytes; }

  // Ids of definitions, made when they are asked for the first time.
  std::uint32_t text(std::string_view text);
  std::size_t texts() const noexcept { return texts_.size(); }
  bool has_text(std::string_view text) const { return texts_.contains(std::string(text)); }
  std::uint32_t thread(std::uint64_t id);
  std::uint32_t queue(std::uint32_t device, std::uint32_t context, std::uint64_t queue);
  std::uint32_t device_place(std::uint32_t device);
  // `launch`: its id and name are not used. `name` is remembered by its address, so a text there
  // must stay as long as the process lives, or be replaced by another text.
  std::uint32_t launch(const char* name, const GpuLaunch& launch);
  // The id of a range's label, plus 1; 0: both are empty.
  std::uint32_t label(std::string_view domain, std::string_view category);
  void device(std::uint32_t id, std::string_view name, std::uint64_t memory);

  void add(const GpuRecord& record) { records_.push_back(record); }
  // Counts records that were lost before they could be added.
  void add_lost(std::uint64_t records) noexcept { lost_ += records; }
  void leave(std::uint64_t ticks);
  // Writes the records added since the last call. Returns the number of lost records that the file
  // does not count, since it has ended.
  std::uint64_t flush();

  std::uint64_t lost() const noexcept { return lost_; }
  int error() const noexcept { return error_; }

 private:
  struct LaunchHash {
    std::size_t operator()(const GpuLaunch& launch) const noexcept;
  };
  struct SameLaunch {
    bool operator()(const GpuLaunch& a, const GpuLaunch& b) const noexcept;
  };
  struct KnownName {
    std::string text;
    std::uint32_t id;
  };

  explicit GpuWriter(os::File file) : file_(std::move(file)) {}
  std::uint32_t place(GpuPlace place);
  std::uint32_t name_at(const char* name);
  void put(GpuBlockKind kind, const void* payload, std::size_t size);
  void put_records();

  os::File file_;
  std::uint64_t size_ = 0;  // of the file
  std::uint64_t most_bytes_ = UINT64_MAX;
  int error_ = 0;
  std::vector<std::uint64_t> pending_;  // blocks that are to be written
  std::vector<GpuRecord> records_;
  RecordPacker packer_;
  std::uint64_t lost_ = 0;
  std::uint64_t told_lost_ = 0;  // in the file, or by flush()
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::unordered_map<std::string, std::uint32_t> places_;  // by their bytes
  std::unordered_map<const char*, KnownName> names_;
  std::unordered_map<GpuLaunch, std::uint32_t, LaunchHash, SameLaunch> launches_;
  std::unordered_map<std::uint32_t, std::uint32_t> devices_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> labels_;  // by their texts
};

}  // namespace timeloom::spool
