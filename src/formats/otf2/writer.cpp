// The archive as a whole: opens it, hands out location writers, finishes it.

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "formats/otf2/definition_writer.hpp"
#include "formats/otf2/local_definitions.hpp"
#include "formats/otf2/original_archive.hpp"
#include "formats/otf2/otf2.hpp"

namespace timeloom::otf2 {

namespace {

// The library collects writes below 4 MiB in a buffer of 4 MiB. When the disk is full while it
// writes this buffer, it frees the buffer and goes on using it (OTF2_File.c of 3.0 and 3.0.3).
// Chunks of this size bypass the buffer.
constexpr std::uint64_t kEventChunk = kUnbufferedWrite;

// Chunks of finished locations, for reuse by later ones: fresh memory costs as much as everything
// else that a small location needs. Any thread may use it.
class ChunkPool {
 public:
  using Memory = std::unique_ptr<std::byte[]>;

  Memory take(std::uint64_t size) noexcept {
    if (size == kEventChunk) {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        Memory memory = std::move(free_.back());
        free_.pop_back();
        return memory;
      }
    }
    return Memory(new (std::nothrow) std::byte[size]);
  }
  void give_back(Memory memory, std::uint64_t size) noexcept {
    if (size != kEventChunk || memory == nullptr) return;
    const std::lock_guard lock(mutex_);
    try {
      free_.push_back(std::move(memory));
    } catch (const std::bad_alloc&) {  // it is freed
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Memory> free_;
};

// One chunk for each file being written. When it is full, the library asks for a second one, gets
// none, and so writes the first and reuses it: memory stays touched and bounded.
struct Chunk {
  ChunkPool::Memory memory;
  std::uint64_t size = 0;
  bool taken = false;
};

void* take_chunk(void* pool, OTF2_FileType, OTF2_LocationRef, void** buffer, std::uint64_t size) {
  auto* chunk = static_cast<Chunk*>(*buffer);
  if (chunk == nullptr) {
    chunk = new (std::nothrow) Chunk;
    if (chunk == nullptr) return nullptr;
    chunk->memory = static_cast<ChunkPool*>(pool)->take(size);
    chunk->size = size;
    *buffer = chunk;
  }
  if (chunk->taken || chunk->memory == nullptr) return nullptr;
  chunk->taken = true;
  return chunk->memory.get();
}

void free_chunk(void* pool, OTF2_FileType, OTF2_LocationRef, void** buffer, bool final) {
  auto* chunk = static_cast<Chunk*>(*buffer);
  if (chunk == nullptr) return;
  chunk->taken = false;
  if (final) {
    static_cast<ChunkPool*>(pool)->give_back(std::move(chunk->memory), chunk->size);
    delete chunk;
    *buffer = nullptr;
  }
}

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

constexpr OTF2_MemoryCallbacks kMemory = {take_chunk, free_chunk};
// Without a post-flush callback no BufferFlush event is written.
constexpr OTF2_FlushCallbacks kFlush = {always_flush, nullptr};

class ArchiveWriter : public Archive {
 public:
  ArchiveWriter(const std::filesystem::path& directory, const std::string& name, Calls calls)
      : directory_(directory), name_(name), anchor_(directory / (name + ".otf2")) {
    if (calls == Calls::kCallingContexts) shared_.contexts.emplace();
    shared_.what = "cannot write the trace in " + directory.string();
    shared_.files = directory / name;
    for (const auto& path : {anchor_, directory / (name + ".def"), shared_.files}) {
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) {
        throw Error(shared_.what + ": " + path.string() +
                    " exists already; remove it first [TL317]");
      }
    }
  }

  ~ArchiveWriter() override {
    if (shared_.archive == nullptr) return;
    OTF2_Archive_Close(shared_.archive);
    remove_anchor();  // closing wrote the anchor of an incomplete archive
  }
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  void take(EventFiles files) override { shared_.taken.push_back(std::move(files)); }
  EventCount written(LocationId location) const override { return written_.of(location); }
  EventReferences references() const override { return references_of(shared_); }

  bool wants_teams() const override { return true; }
  void begin(const Definitions& definitions) override {
    catch_library_errors();
    forget_library_errors();
    shared_.definitions = &definitions;
    if (definitions.original) {
      original_.emplace(directory_ / (name_ + ".original"), definitions);
      original_->refer(shared_);
    } else {
      intern_strings(shared_);
      intern_meanings(shared_);
    }
    for (const EventFiles& files : shared_.taken) {
      for (const EventFiles::File& file : files.files) written_.add(file.here, file.count);
    }
    shared_.archive =
        check(OTF2_Archive_Open(directory_.c_str(), name_.c_str(), OTF2_FILEMODE_WRITE, kEventChunk,
                                OTF2_UNDEFINED_UINT64, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
              shared_.what);
    ok(OTF2_Archive_SetFlushCallbacks(shared_.archive, &kFlush, nullptr));
    ok(OTF2_Archive_SetMemoryCallbacks(shared_.archive, &kMemory, &chunks_));
    ok(set_locks(shared_.archive));
    ok(OTF2_Archive_SetSerialCollectiveCallbacks(shared_.archive));
    if (original_) {
      original_->describe(shared_.archive, shared_.what);
    } else {
      ok(OTF2_Archive_SetCreator(shared_.archive, definitions.creator.c_str()));
      ok(OTF2_Archive_SetMachineName(shared_.archive, definitions.machine_name.c_str()));
    }
    ok(OTF2_Archive_OpenEvtFiles(shared_.archive));
  }

  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return open_location_writer(shared_, written_, location);
  }

  void finish() override {
    forget_library_errors();
    for (const Location& location : shared_.definitions->locations) {
      if (!written_.has(location.id)) open_location(location)->finish();  // readers expect a file
    }
    ok(OTF2_Archive_CloseEvtFiles(shared_.archive));
    put_taken_files();
    write_definitions(shared_, written_, original_ ? &*original_ : nullptr);
    OTF2_Archive* archive = std::exchange(shared_.archive, nullptr);
    try {
      ok(OTF2_Archive_Close(archive));
      write_markers(anchor_, shared_);
      check_definitions();
    } catch (...) {
      remove_anchor();
      throw;
    }
  }

 private:
  void ok(OTF2_ErrorCode code) const { check(code, shared_.what); }

  void put_taken_files() const {
    for (const EventFiles& files : shared_.taken) {
      for (const EventFiles::File& file : files.files) {
        files.put(file, shared_.files / (std::to_string(file.here.value()) + ".evt"));
      }
    }
  }

  // The definitions that the events refer to; each location has checked its own file.
  void check_definitions() const {
    const std::unique_ptr<RunSource> written = open(anchor_);
    const Definitions &are = written->definitions(), &wanted = *shared_.definitions;
    const bool all = are.regions.size() == wanted.regions.size() &&
                     are.locations.size() == wanted.locations.size() &&
                     std::ranges::all_of(are.locations, [this](const Location& location) {
                       return original_ || location.event_count == written_.of(location.id).events;
                     });
    if (!all)
      throw Error(shared_.what + ": its definitions are not those that were written [TL316]");
  }

  void remove_anchor() const {
    std::error_code ignored;
    std::filesystem::remove(anchor_, ignored);
  }

  const std::filesystem::path directory_;
  const std::string name_;
  const std::filesystem::path anchor_;
  ChunkPool chunks_;  // outlives the archive
  Shared shared_;
  Written written_;
  std::optional<OriginalArchive> original_;
};

}  // namespace

std::unique_ptr<Archive> create(const std::filesystem::path& directory, const std::string& name,
                                Calls calls) {
  return std::make_unique<ArchiveWriter>(directory, name, calls);
}

}  // namespace timeloom::otf2
