// Walks a file of an archive chunk by chunk, ahead of the library, and counts the records that are
// sound.
//
// The library reads whole chunks into memory that it does not clear; behind the end of a truncated
// file it would read old data. So it is told to read no more records than were counted here.
// Memory: one chunk. Used by one thread at a time; throws Error when the file cannot be read.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "formats/otf2/read/event_digest.hpp"
#include "formats/otf2/read/otf2_anchor.hpp"
#include "formats/otf2/read/record_layout.hpp"

namespace timeloom::otf2 {

class ChunkCheck {
 public:
  // `digest`: receives the enters and leaves of the file; may be null.
  ChunkCheck(const ArchiveFile& file, FileKind kind, std::uint64_t chunk_size,
             EventDigest* digest = nullptr);

  struct Result {
    std::uint64_t records = 0;  // sound ones in this chunk
    bool last = false;          // the file ends here, as it should
    bool damaged = false;       // behind these records nothing can be read
  };
  Result next();

 private:
  enum class Step { kRecord, kAttributes, kEndOfChunk, kEndOfFile, kDamaged };
  Step step_region(std::uint8_t record, Bytes& bytes);
  Step step(Bytes& bytes);
  Step step_record(std::uint8_t record, Bytes& bytes) const;

  const std::string path_;
  const FileKind kind_;
  EventDigest* const digest_;
  std::uint64_t time_ = 0;  // of the last event, if there is a digest
  InputDirectory::File file_;
  const std::size_t chunk_size_;
  std::unique_ptr<std::uint8_t[]> chunk_;  // touched as far as the file reaches
};

// Counts the records of a whole file; throws Error when one of them is damaged.
std::uint64_t count_records(const ArchiveFile& archive_file, FileKind kind,
                            std::uint64_t chunk_size);

struct EventFile {
  std::uint64_t events = 0;
  EventDigest digest;
};
// Reads the contents of an event file; throws Error when a part is damaged.
EventFile read_events(const ArchiveFile& archive_file, std::uint64_t chunk_size);

}  // namespace timeloom::otf2
