#include "preload/mpi/files.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "preload/mpi/point_to_point.hpp"

namespace timeloom::mpi {
namespace {

struct File {
  std::string path{};
  int mode = 0;
  std::uint32_t defined_in = 0;  // number of the measurement
  IoHandleId id{};               // there
  std::uint64_t asked = 0;
};

// Never destroyed: threads may outlive the static objects of the program.
struct FileTable {
  std::mutex mutex;
  std::unordered_map<Handle, File> files;
};
FileTable& file_table() {
  static auto* const kInstance = new FileTable;
  return *kInstance;
}

bool records() noexcept { return record::wrapping() && record::recording() && abi() != nullptr; }

template <typename Bit>
constexpr std::uint32_t bit(Bit one, bool set) noexcept {
  return set ? static_cast<std::uint32_t>(one) : 0;
}

IoAccess access_of(int mode) noexcept {
  if ((mode & abi()->mode_read_write) != 0) return IoAccess::kReadWrite;
  return (mode & abi()->mode_write_only) != 0 ? IoAccess::kWriteOnly : IoAccess::kReadOnly;
}
std::uint32_t creation_of(int mode) noexcept {
  return bit(IoCreation::kCreate, (mode & abi()->mode_create) != 0) |
         bit(IoCreation::kExclusive, (mode & abi()->mode_exclusive) != 0);
}
std::uint32_t status_of(int mode) noexcept {
  return bit(IoStatus::kAppend, (mode & abi()->mode_append) != 0);
}

// The path of an open file; a name that is not a path, such as "ufs:data", stays unchanged.
std::string path_of(const char* name) {
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(name, nullptr), &std::free);
  return path == nullptr ? name : path.get();
}

IoHandleId define(File& file, bool opened) noexcept try {
  IoHandle handle;
  handle.file = file.path;
  handle.paradigm = IoParadigm::kMpi;
  handle.pre_created = !opened;
  handle.access = static_cast<std::uint8_t>(access_of(file.mode));
  handle.status = status_of(file.mode);
  file.id = record::define_io_handle(handle);
  file.defined_in = record::measurement_number();
  return file.id;
} catch (const std::bad_alloc&) {
  return {};
}

// Calls `use` for the file if it is known.
template <typename Use>
void with_file(Handle file, Use use) noexcept {
  FileTable& all = file_table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.files.find(file);
  if (found != all.files.end()) use(found->second);
}

bool is_defined(const File& file) noexcept {
  return file.id.defined() && file.defined_in == record::measurement_number();
}

std::uint64_t word_of(IoHandleId handle, IoOperation operation) noexcept {
  return io_word(handle.value(), static_cast<std::uint32_t>(operation));
}

std::uint64_t bytes_in(const void* status) noexcept { return envelope_of(status).bytes; }

}  // namespace

Handle load_file(const void* place) noexcept {
  Handle file = 0;
  std::memcpy(&file, place, sizeof file);
  return file;
}

void add_file(Handle file, const char* name, int mode) noexcept try {
  File added{path_of(name), mode};
  if (records()) {
    const IoHandleId id = define(added, true);
    if (id.defined()) {
      put(ExtendedKind::kIoCreate,
          {id.value(), io_modes(access_of(mode), creation_of(mode), status_of(mode))});
    }
  }
  FileTable& all = file_table();
  const std::lock_guard lock(all.mutex);
  all.files[file] = std::move(added);
} catch (const std::bad_alloc&) {
  return;
}

IoHandleId take_file(Handle file) noexcept {
  IoHandleId id;
  with_file(file, [&](File& one) {
    if (is_defined(one)) id = one.id;
  });
  FileTable& all = file_table();
  const std::lock_guard lock(all.mutex);
  all.files.erase(file);
  return id;
}

IoHandleId file_handle(Handle file) noexcept {
  IoHandleId id;
  if (!records()) return id;
  with_file(file, [&](File& one) { id = is_defined(one) ? one.id : define(one, false); });
  return id;
}

void note_asked(Handle file, std::uint64_t bytes) noexcept {
  with_file(file, [&](File& one) { one.asked = bytes; });
}

std::uint64_t asked_of(Handle file) noexcept {
  std::uint64_t asked = 0;
  with_file(file, [&](const File& one) { asked = one.asked; });
  return asked;
}

void put_closed(IoHandleId handle) noexcept {
  if (handle.defined()) put(ExtendedKind::kIoDestroy, {handle.value()});
}

void put_begin(IoHandleId handle, IoOperation operation, std::uint64_t asked) noexcept {
  put(ExtendedKind::kIoBegin, {word_of(handle, operation), asked});
}

void put_end(IoHandleId handle, IoOperation operation, int result, const void* status) noexcept {
  put(ExtendedKind::kIoComplete, {word_of(handle, operation), ok(result) ? bytes_in(status) : 0});
}

void put_flushed(IoHandleId handle) noexcept {
  put(ExtendedKind::kIoComplete, {word_of(handle, IoOperation::kFlush), kNoBytes});
}

void put_transferred(const Pending& pending, const void* status) noexcept {
  const std::uint64_t bytes = bytes_in(status);
  put_begin(pending.file, pending.transfer, bytes);
  put(ExtendedKind::kIoComplete, {word_of(pending.file, pending.transfer), bytes});
}

void add_transfer(IoHandleId handle, IoOperation operation, const void* request) noexcept {
  add_request(abi()->load(request), {.kind = Pending::Kind::kFile,
                                     .active = true,
                                     .number = next_request(),
                                     .file = handle,
                                     .transfer = operation});
}

}  // namespace timeloom::mpi
