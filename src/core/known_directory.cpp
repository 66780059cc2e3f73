#include "core/known_directory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "os/process.hpp"

namespace timeloom {
namespace {

constexpr int kHexadecimal = 16;

using Numbers = std::array<std::uint64_t, 4>;

// All zeros: not known.
Numbers numbers_in(std::string_view text) {
  Numbers numbers{};
  const char* next = text.data();
  const char* const end = next + text.size();
  for (std::uint64_t& number : numbers) {
    if (&number != numbers.data() && (next == end || *next++ != '-')) return {};
    const auto [rest, error] = std::from_chars(next, end, number, kHexadecimal);
    if (error != std::errc{}) return {};
    next = rest;
  }
  return next == end ? numbers : Numbers{};
}

// Opens a directory below an open one, and makes it if it does not exist.
os::Directory make_or_open(const os::Directory& above, const std::string& name, int* error) {
  *error = above.make_directory(name);
  if (*error != 0 && *error != EEXIST) return {};
  os::Directory made = above.open_below(name, error);
  if (*error == 0 && made.is_of_another_user()) *error = ESTALE;
  return *error == 0 ? std::move(made) : os::Directory();
}

}  // namespace

std::string text_of(const os::DirectoryId& id) {
  if (!id.known()) return {};
  const auto boot = os::this_process().boot;
  std::string text;
  for (const std::uint64_t number : {id.device, id.number, boot[0], boot[1]}) {
    std::array<char, 17> digits{};
    std::to_chars(digits.begin(), digits.end() - 1, number, kHexadecimal);
    text += (text.empty() ? "" : "-") + std::string(digits.data());
  }
  return text;
}

std::string reason_of(int error) {
  if (error == ESTALE) return "another directory, or one of another user, is in its place";
  return std::strerror(error);
}

os::DirectoryId directory_id_in(std::string_view text) {
  const auto [device, number, first, second] = numbers_in(text);
  const bool here = os::this_process().boot == std::array{first, second};
  return {here ? device : 0, number};
}

os::Directory KnownDirectory::open(int* error) const noexcept {
  return if_same(os::Directory::open_unlisted(path_, error), error);
}

os::Directory KnownDirectory::open_to_list(int* error) const noexcept {
  return if_same(os::Directory::open(path_, error), error);
}

os::Directory KnownDirectory::if_same(os::Directory directory, int* error) const noexcept {
  if (*error == 0 && id_.known() && !id_.is_of(directory.id())) *error = ESTALE;
  return *error == 0 ? std::move(directory) : os::Directory();
}

KnownDirectory KnownDirectory::known(const os::Directory& directory, const std::string& way,
                                     int* error) const {
  if (*error == 0 && !directory.id().known()) *error = EIO;
  return *error == 0 ? KnownDirectory(path_ + "/" + way, directory.id()) : KnownDirectory();
}

KnownDirectory KnownDirectory::below(const std::string& way, int* error) const {
  const os::Directory own = open(error);
  return *error == 0 ? known(own.open_below(way, error), way, error) : KnownDirectory();
}

KnownDirectory KnownDirectory::make_below(const std::string& way, int* error) const {
  os::Directory at = open(error);
  for (std::size_t begin = 0; *error == 0 && begin <= way.size();) {
    const std::size_t end = std::min(way.find('/', begin), way.size());
    at = make_or_open(at, way.substr(begin, end - begin), error);
    begin = end + 1;
  }
  return known(at, way, error);
}

KnownDirectory KnownDirectory::make_new(const std::string& name, int* error) const {
  const os::Directory own = open(error);
  if (*error == 0) *error = own.make_directory(name);
  if (*error != 0) return {};
  const os::Directory made = own.open_below(name, error);
  if (*error == 0 && made.is_of_another_user()) *error = ESTALE;
  return known(made, name, error);
}

os::File KnownDirectory::create_file(const std::string& name, int* error) const {
  const os::Directory own = open(error);
  if (*error != 0) return {};
  os::File file = own.create_file(name, error);
  if (*error == 0) file.found_again_at(path_ + "/" + name);
  return file;
}

int KnownDirectory::remove_file(const std::string& name) const noexcept {
  int error = 0;
  const os::Directory own = open(&error);
  return error == 0 ? own.remove_file(name) : error;
}

}  // namespace timeloom
