// The definitions of an archive of another tool, which its packed trace has kept as they were. An
// archive that is made of the packed trace has these definitions, and its events refer to them.
//
// Owned by the writer of an archive, used by one thread at a time. Throws Error.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/event.hpp"
#include "formats/otf2/location_writer.hpp"
#include "formats/otf2/read/definition_reader.hpp"

namespace timeloom::otf2 {

// The references of the original for the ids in events.
struct OriginalReferences {
  std::vector<std::uint32_t> regions, parameters, communicators;

  std::uint32_t of(const Event& event) const;
};

class OriginalArchive {
 public:
  // Makes two files of the kept bytes in a new directory, for the library, and removes them at the
  // end. REQUIRES: `run` are the definitions of the packed trace, with their original.
  OriginalArchive(const std::filesystem::path& directory, const Definitions& run);
  const OriginalReferences& references() const noexcept { return of_events_; }
  // Lets location writers use the references of the original.
  void refer(Shared& shared) const;
  // Writes the facts that an anchor has, and the size of the chunks of definitions.
  void describe(OTF2_Archive* archive, const std::string& what) const;
  void copy_definitions(OTF2_GlobalDefWriter* writer, const std::string& what) const;

 private:
  // A directory that is removed with all files in it.
  class Files {
   public:
    explicit Files(std::filesystem::path directory);
    ~Files();
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;
    // Writes both files; returns the anchor.
    std::filesystem::path write(const OriginalFiles& kept) const;

   private:
    const std::filesystem::path directory_;
  };

  void check_fits(const Definitions& run) const;

  const Files files_;
  Anchor anchor_;
  Definitions definitions_;
  References references_;
  OriginalReferences of_events_;
};

// Writes the creation, start, end or wait of a thread as another tool did.
OTF2_ErrorCode write_original_thread(OTF2_EvtWriter* writer, const Event& event);

}  // namespace timeloom::otf2
