// The events of ranks that packed them at their end. The ranks of a host share a file in RUN/spool,
//
//     packed-HOST-BOOT     HOST as in the names of spools, BOOT: a number of the boot
//
// which contains a RankResult and the blocks of each (formats/packed/host_file.hpp). So ranks of
// different hosts never write to one file, and a job leaves one file a host.
//
// Any thread may use a const object. Throws std::bad_alloc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/packed/host_file.hpp"
#include "os/directory.hpp"
#include "weave/ranks/rank_result.hpp"

namespace timeloom::weave {

// The name of the file for the ranks of this host.
std::string host_file_name();

// A number for the spool with this way from RUN/spool.
std::uint64_t key_of_spool(const std::string& way) noexcept;

class PackedRanks {
 public:
  struct Part {
    std::string file;
    packed::RankPart place;
  };
  // Looks for the parts in all files of hosts in RUN/spool. Files that cannot be read are left out.
  explicit PackedRanks(std::shared_ptr<const os::Directory> spools);

  // The part of the spool; null: there is none.
  const Part* part_of(const spool::SpoolDirectory& spool) const;
  // A closed file: it cannot be opened.
  os::File open(const Part& part) const;
  // Empty: it is damaged, or belongs to other definitions.
  std::optional<RankResult> result(const Part& part, const spool::SpoolDirectory& spool) const;

 private:
  std::shared_ptr<const os::Directory> spools_;
  std::map<std::uint64_t, Part> parts_;  // by key
};

}  // namespace timeloom::weave
