#include "view/index/index_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <system_error>

namespace timeloom::view {

namespace {

[[noreturn]] void fail_on_index(const char* what, const std::filesystem::path& path, int error) {
  throw Error(std::string(what) + " " + path.string() + ": " +
              std::generic_category().message(error) + " [TL502]");
}

}  // namespace

IndexFile::~IndexFile() { ::close(descriptor_); }

int IndexFile::open_to_read(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category());
  return descriptor;
}

std::uint64_t IndexFile::append(std::string_view bytes) {
  const std::uint64_t offset = end_.fetch_add(padded(bytes.size()));
  if (bytes.size() % 8 == 0) {
    write_at(offset, bytes);
  } else {
    std::string whole(bytes);
    whole.resize(padded(bytes.size()));
    write_at(offset, whole);
  }
  return offset;
}

void IndexFile::write_at(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_on_index("cannot write the index", path_, written < 0 ? errno : EIO);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

std::uint64_t IndexFile::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_on_index("cannot read", path_, errno);
  return S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

void IndexFile::read(std::uint64_t offset, std::uint64_t bytes, Words& words) const {
  // A size in a file is only a claim: memory is allocated for existing bytes.
  const std::uint64_t all = size();
  if (offset > all || padded(bytes) > all - offset) damaged();
  words.assign(padded(bytes) / 8, 0);
  char* to = reinterpret_cast<char*>(words.data());
  for (std::uint64_t left = words.size() * 8; left > 0;) {
    const ssize_t got = ::pread(descriptor_, to, left, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_on_index("cannot read", path_, errno);
    if (got == 0) damaged();
    to += got;
    offset += static_cast<std::uint64_t>(got);
    left -= static_cast<std::uint64_t>(got);
  }
}

void IndexFile::read(std::uint64_t offset, std::uint64_t bytes, std::uint32_t check,
                     Words& words) const {
  read(offset, bytes, words);
  if (checked_ && check_of(words) != check) damaged();
}

Words words_of(std::string_view bytes) {
  Words words(padded(bytes.size()) / 8);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

}  // namespace timeloom::view
