// The anchor of an archive ("….otf2"): the list of its files and their chunk sizes.
//
// Read here before the library does, because the library trusts its numbers: with a damaged anchor
// it writes beyond its memory. A plain value. read_anchor() throws Error; any thread may call it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/ids.hpp"
#include "core/input_directory.hpp"

namespace timeloom::otf2 {

// A file of an archive, which may be missing. Its anchor outlives it.
class ArchiveFile {
 public:
  ArchiveFile(const InputDirectory& directory, std::string way)
      : directory_(&directory), way_(std::move(way)) {}

  bool exists() const { return directory_->holds_file(way_); }
  InputDirectory::File open() const {
    return directory_->open(
        way_, "; an archive is its .otf2 and .def file and the directory beside them");
  }
  // All bytes of it. Throws Error.
  std::string bytes() const;
  std::string path() const { return (directory_->path() / way_).string(); }  // for messages

 private:
  const InputDirectory* directory_;
  std::string way_;
};

struct Anchor {
  std::filesystem::path path;  // absolute
  std::shared_ptr<const InputDirectory> directory;
  std::uint64_t event_chunk = 0;
  std::uint64_t definition_chunk = 0;
  std::uint64_t trace_id = 0;  // a random number of this archive; 0: none (an old format)

  ArchiveFile self() const;
  ArchiveFile global_definitions() const;
  ArchiveFile markers() const;  // may be missing
  ArchiveFile events(LocationId location) const;
  ArchiveFile local_definitions(LocationId location) const;
  // The path of the anchor, for the library.
  std::filesystem::path fixed_path() const { return directory->fixed_path() / path.filename(); }
};

// Throws Error when there is no sound anchor at `path`.
Anchor read_anchor(const std::filesystem::path& path);

}  // namespace timeloom::otf2
