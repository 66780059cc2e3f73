#include "view/index_place.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace timeloom::view {

namespace fs = std::filesystem;

namespace {

std::uint64_t hash_of(const std::string& text) noexcept {
  std::uint64_t hash = 7;
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

// 0: it cannot be looked at.
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
    return {};  // of another archive or version: it is made again
  }
}

// A file that is being made: locked, and without its name until it is complete.
struct Making {
  int descriptor = -1;
  fs::path path;  // that it has now; empty: none
  fs::path name;  // that it gets; empty: none
};

// -1 in the result: it cannot be made here.
Making make_at(const fs::path& name) {
  std::error_code error;
  if (name.empty() || fs::is_directory(fs::symlink_status(name, error))) return {};
  const fs::path path = name.parent_path() / ("." + name.filename().string());
  const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), flags, 0666);
  if (descriptor < 0) return {};
  // Another process that was at it may have given it its name meanwhile.
  struct stat status {
  }, there{};
  const bool ours = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
                    ::fstat(descriptor, &status) == 0 && ::lstat(path.c_str(), &there) == 0 &&
                    S_ISREG(status.st_mode) && status.st_nlink == 1 &&
                    there.st_ino == status.st_ino && there.st_dev == status.st_dev;
  if (!ours || ::ftruncate(descriptor, 0) != 0) {
    ::close(descriptor);
    return {};
  }
  return {descriptor, path, name};
}

Making make_unnamed() {
  std::error_code error;
  const fs::path directory = fs::temp_directory_path(error);
  const int descriptor =
      ::open((error ? fs::path("/tmp") : directory).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw Error("no place for the index of the viewer: neither beside the run nor in " +
                directory.string() + ": " + std::generic_category().message(errno));
  }
  return {descriptor, {}, {}};
}

Making make_somewhere(const fs::path& anchor) {
  if (const Making beside = make_at(place_beside(anchor)); beside.descriptor >= 0) return beside;
  const fs::path in_cache = place_in_cache(anchor);
  if (!in_cache.empty()) {
    std::error_code ignored;
    fs::create_directories(in_cache.parent_path(), ignored);
    fs::permissions(in_cache.parent_path(), fs::perms::owner_all, ignored);
  }
  if (const Making cached = make_at(in_cache); cached.descriptor >= 0) return cached;
  return make_unnamed();
}

// Removes the file again if it does not become complete.
class Guard {
 public:
  explicit Guard(const Making& making) : path_(making.path) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void keep() { path_.clear(); }

 private:
  fs::path path_;
};

}  // namespace

std::uint64_t source_identity(const fs::path& anchor) {
  fs::path stem = anchor;
  stem.replace_extension();
  std::uint64_t identity = mix(kVersion, state_of(anchor));
  identity = mix(identity, state_of(stem.string() + ".def"));
  // In no order: their sum has none either.
  std::uint64_t files = 0;
  std::error_code error;
  for (fs::directory_iterator at(stem, error), end; !error && at != end; at.increment(error)) {
    files += mix(hash_of(at->path().filename().string()), state_of(at->path()));
  }
  return mix(identity, files);
}

fs::path place_beside(const fs::path& anchor) {
  const std::string stem = anchor.stem().string();
  return anchor.parent_path() / (stem == "traces" ? "view.timeloom" : stem + ".view.timeloom");
}

fs::path place_in_cache(const fs::path& anchor) {
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
  if (auto beside = open_at(place_beside(anchor), identity, tracks, damaged)) return beside;
  return open_at(place_in_cache(anchor), identity, tracks, damaged);
}

std::shared_ptr<const Index> make_index(RunSource& run, const fs::path& anchor,
                                        std::uint64_t identity, Progress& progress,
                                        unsigned threads, const Index* earlier) {
  const Making making = make_somewhere(anchor);
  auto file = std::make_unique<IndexFile>(making.descriptor,
                                          making.name.empty() ? place_beside(anchor) : making.name);
  Guard guard(making);  // after the file, whose lock has to be there still when the name goes
  IndexWriter writer(*file, identity, progress);
  if (earlier != nullptr) writer.number_paths_as(*earlier);
  const std::array<RunSink*, 1> sinks = {&writer};
  run.feed(sinks, threads);
  if (!making.name.empty()) {
    if (::rename(making.path.c_str(), making.name.c_str()) != 0) {
      throw Error("cannot rename " + making.path.string() + ": " +
                  std::generic_category().message(errno));
    }
    guard.keep();
  }
  // The lock goes with the descriptor, which the index has for itself.
  return std::make_shared<const Index>(std::move(file), identity);
}

}  // namespace timeloom::view
