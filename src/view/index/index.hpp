// The index of a run, open for questions.
//
// Any thread may use a const object. Tables of tracks are read at first use, and kept up to a
// limit. Throws Error where the file is damaged: it may come from an untrusted source.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "view/index/index_file.hpp"
#include "view/index/track.hpp"

namespace timeloom::view {

class Index {
 public:
  static constexpr std::size_t kKeptBytes = 96 << 20;

  // Checks the head of the file and its tables. `source` must match the index.
  Index(std::unique_ptr<IndexFile> file, std::uint64_t source);

  std::uint64_t events() const noexcept { return header_.events; }
  const std::vector<PathRecord>& paths() const noexcept { return paths_; }
  const std::vector<TrackRecord>& tracks() const noexcept { return tracks_; }
  const std::map<std::string, std::string>& properties() const noexcept { return properties_; }
  const IndexFile& file() const noexcept { return *file_; }

  // Reads the whole file, unless cancelled meanwhile. Throws DamagedIndex where a part fails its
  // check.
  void check_all(const std::atomic<bool>& cancelled) const;

  // REQUIRES: number < tracks().size().
  std::shared_ptr<const Track> track(std::uint32_t number) const;

 private:
  void check_paths() const;
  void read_properties(const Words& words, std::uint64_t offset, std::uint64_t bytes);

  std::unique_ptr<IndexFile> file_;
  Header header_;
  std::vector<PathRecord> paths_;
  std::vector<TrackRecord> tracks_;
  std::map<std::string, std::string> properties_;

  struct Kept {
    std::uint32_t number;
    std::shared_ptr<const Track> track;
  };
  mutable std::mutex mutex_;
  mutable std::list<Kept> kept_;  // most recently used first
  mutable std::unordered_map<std::uint32_t, std::list<Kept>::iterator> places_;
  mutable std::size_t kept_bytes_ = 0;
};

}  // namespace timeloom::view
