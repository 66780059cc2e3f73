#include "view/index/stored_index.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/resolved_path.hpp"

namespace timeloom::view {

namespace fs = std::filesystem;

namespace {

std::uint64_t hash_of(const std::string& text) noexcept {
  std::uint64_t hash = 7;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// 0: the file cannot be examined.
std::uint64_t state_of(const fs::path& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  std::uint64_t hash = mix(1, static_cast<std::uint64_t>(status.st_size));
  hash = mix(hash, static_cast<std::uint64_t>(status.st_mtim.tv_sec));
  return mix(hash, static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

fs::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return fs::path(cache) / "timeloom" / "view";
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? fs::path(home) / ".cache" / "timeloom" / "view"
                                         : fs::path();
}

std::shared_ptr<const Index> open_at(const fs::path& path, std::uint64_t identity,
                                     std::size_t tracks, bool& damaged) {
  if (path.empty()) return {};
  try {
    auto file = std::make_unique<IndexFile>(IndexFile::open_to_read(path), path);
    auto index = std::make_shared<const Index>(std::move(file), identity);
    return index->tracks().size() == tracks ? index : nullptr;
  } catch (const std::system_error&) {
    return {};
  } catch (const DamagedIndex&) {
    damaged = true;
    return {};
  } catch (const Error&) {
    return {};  // of another archive or version: rebuilt
  }
}

// A file that is being written: locked, and without its final name until it is complete. Only files
// created here are ever written to: an existing one may be a hard link to any file of the user.
struct Making {
  os::File file;
  os::Directory directory;  // of both names; closed: it has none
  std::string making;       // its temporary name
  fs::path name;            // its final name; empty: none
};

bool try_lock(const os::File& file) { return ::flock(file.fd(), LOCK_EX | LOCK_NB) == 0; }

// Removes the file of a process that is gone. The file of a living process stays, and blocks this
// one.
void remove_abandoned(const os::Directory& directory, const std::string& name) {
  int error = 0;
  const os::File left = directory.open_file(name, &error);
  // Another process may meanwhile have completed it and given it its name.
  if (left.is_open() && try_lock(left) && directory.holds(name, left)) directory.remove_file(name);
}

// A result without a file: it cannot be created here.
Making make_at(const fs::path& name) {
  int error = 0;
  if (name.empty()) return {};
  os::Directory directory = os::resolve_path(name.parent_path().string()).open_unlisted(&error);
  if (error != 0 || directory.kind(name.filename(), &error) == os::EntryKind::kDirectory) return {};
  const std::string making = "." + name.filename().string();
  remove_abandoned(directory, making);
  os::File file = directory.create_file(making, &error);
  if (error != 0 || !try_lock(file) || !directory.holds(making, file)) return {};
  return {std::move(file), std::move(directory), making, name};
}

fs::path place_of_unnamed() {
  std::error_code error;
  fs::path directory = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : directory;
}

// Not every file system has files without a name; there, the file loses its name at once.
os::File make_unnamed(const fs::path& directory, int* error) {
  int descriptor = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    std::string name = directory / ".timeloom-view-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    *error = descriptor < 0 ? errno : 0;
    if (descriptor >= 0) ::unlink(name.c_str());
  }
  return os::File(descriptor);
}

Making make_somewhere_unnamed() {
  const fs::path directory = place_of_unnamed();
  int error = 0;
  os::File file = make_unnamed(directory, &error);
  if (error != 0) {
    throw Error("no place for the index of the viewer: neither beside the run nor in " +
                directory.string() + ": " + std::generic_category().message(error) + " [TL502]");
  }
  return {std::move(file), {}, {}, {}};
}

Making make_somewhere(const fs::path& anchor) {
  if (Making beside = make_at(index_path_beside(anchor)); beside.file.is_open()) return beside;
  const fs::path in_cache = index_path_in_cache(anchor);
  if (!in_cache.empty()) {
    std::error_code ignored;
    fs::create_directories(in_cache.parent_path(), ignored);
    fs::permissions(in_cache.parent_path(), fs::perms::owner_all, ignored);
  }
  if (Making cached = make_at(in_cache); cached.file.is_open()) return cached;
  return make_somewhere_unnamed();
}

// Removes the file unless it becomes complete.
class Guard {
 public:
  explicit Guard(const Making& making) : making_(making) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    if (removes_ && making_.directory.is_open()) making_.directory.remove_file(making_.making);
  }
  void keep() { removes_ = false; }

 private:
  const Making& making_;
  bool removes_ = true;
};

}  // namespace

std::uint64_t source_identity(const fs::path& anchor) {
  fs::path stem = anchor;
  stem.replace_extension();
  std::uint64_t identity = mix(kVersion, state_of(anchor));
  identity = mix(identity, state_of(stem.string() + ".def"));
  // Files come in any order, so they are combined by a sum.
  std::uint64_t files = 0;
  std::error_code error;
  for (fs::directory_iterator at(stem, error), end; !error && at != end; at.increment(error)) {
    files += mix(hash_of(at->path().filename().string()), state_of(at->path()));
  }
  return mix(identity, files);
}

std::uint64_t anchor_state(const fs::path& anchor) noexcept { return state_of(anchor); }

fs::path index_path_beside(const fs::path& anchor) {
  const std::string stem = anchor.stem().string();
  return anchor.parent_path() / (stem == "traces" ? "view.timeloom" : stem + ".view.timeloom");
}

fs::path index_path_in_cache(const fs::path& anchor) {
  const fs::path directory = cache_directory();
  if (directory.empty()) return {};
  std::error_code error;
  const fs::path full = fs::canonical(anchor, error);
  char name[17];
  std::snprintf(name, sizeof name, "%016llx",
                static_cast<unsigned long long>(hash_of((error ? anchor : full).string())));
  return directory / (std::string(name) + ".timeloom");
}

std::shared_ptr<const Index> find_index(const fs::path& anchor, std::uint64_t identity,
                                        std::size_t tracks, bool& damaged) {
  if (auto beside = open_at(index_path_beside(anchor), identity, tracks, damaged)) return beside;
  return open_at(index_path_in_cache(anchor), identity, tracks, damaged);
}

std::shared_ptr<const Index> make_index(RunSource& run, const fs::path& anchor,
                                        std::uint64_t identity, Progress& progress,
                                        unsigned threads, const Index* earlier) {
  Making making = make_somewhere(anchor);
  auto file = std::make_unique<IndexFile>(
      making.file.release(), making.name.empty() ? index_path_beside(anchor) : making.name);
  Guard guard(making);  // declared after the file, which must still be locked when the name is
                        // removed
  IndexWriter writer(*file, identity, progress);
  if (earlier != nullptr) writer.number_paths_as(*earlier);
  const std::array<RunSink*, 1> sinks = {&writer};
  run.replay(sinks, threads);
  if (!making.name.empty()) {
    const int error =
        making.directory.rename(making.making, making.directory, making.name.filename());
    if (error != 0) {
      throw Error("cannot write " + making.name.string() + ": " +
                  std::generic_category().message(error) + " [TL502]");
    }
    guard.keep();
  }
  // The lock ends with the descriptor, which only the index has.
  return std::make_shared<const Index>(std::move(file), identity);
}

std::shared_ptr<const Index> make_passing_index(RunSource& run, Progress& progress,
                                                unsigned threads, const Index* earlier) {
  constexpr std::uint64_t kNoArchive = 0;
  const fs::path directory = place_of_unnamed();
  int error = 0;
  os::File unnamed = make_unnamed(directory, &error);
  if (error != 0) {
    throw Error("no place for the index of a running program in " + directory.string() + ": " +
                std::generic_category().message(error) +
                "; set TMPDIR to another directory [TL475]");
  }
  auto file = std::make_unique<IndexFile>(unnamed.release(), "the index in " + directory.string());
  IndexWriter writer(*file, kNoArchive, progress);
  if (earlier != nullptr) writer.number_paths_as(*earlier);
  const std::array<RunSink*, 1> sinks = {&writer};
  run.replay(sinks, threads);
  return std::make_shared<const Index>(std::move(file), kNoArchive);
}

}  // namespace timeloom::view
