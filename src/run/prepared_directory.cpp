#include "run/prepared_directory.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "os/clock.hpp"
#include "run/contents.hpp"

namespace timeloom::run {
namespace {

constexpr std::string_view kPrefix = ".scorep-";
constexpr int kHexadecimal = 16;

// The entries of a directory from the start.
constexpr std::array kPrepared = {Item::kManifest, Item::kSettings, Item::kFilter};

bool is_prepared(const os::Directory& directory, const std::string& name) {
  int error = 0;
  return std::ranges::any_of(kPrepared, [&](Item item) { return name == name_of(item); }) &&
         directory.kind(name, &error) == os::EntryKind::kFile;
}

}  // namespace

void remove_prepared(const os::Directory& parent, const std::string& name) {
  int error = 0;
  const os::Directory directory = parent.open_below(name, &error);
  if (error != 0 || directory.owner(&error) != ::geteuid() || error != 0) return;
  const std::vector<std::string> names = directory.names(&error);
  const auto prepared = [&](const std::string& one) { return is_prepared(directory, one); };
  if (error != 0 || !std::ranges::all_of(names, prepared)) return;
  for (const std::string& one : names) static_cast<void>(directory.remove_file(one));
  static_cast<void>(parent.remove_directory(name));
}

std::string prepared_name() {
  const os::ProcessIdentity maker = os::this_process();
  std::string name(kPrefix);
  for (const std::uint64_t number :
       {maker.id, maker.start, maker.pid_namespace, maker.boot[0], maker.boot[1], os::now()}) {
    std::array<char, 17> digits{};
    std::to_chars(digits.begin(), digits.end() - 1, number, kHexadecimal);
    name += (name.size() > kPrefix.size() ? "-" : "") + std::string(digits.data());
  }
  return name;
}

std::optional<os::ProcessIdentity> preparer_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::array<std::uint64_t, 6> numbers{};
  const char* const end = name.data() + name.size();
  const char* next = name.data();
  for (std::uint64_t& number : numbers) {
    if (&number != numbers.data() && (next == end || *next++ != '-')) return std::nullopt;
    const auto [rest, error] = std::from_chars(next, end, number, kHexadecimal);
    if (error != std::errc{}) return std::nullopt;
    next = rest;
  }
  if (next != end) return std::nullopt;
  return os::ProcessIdentity{numbers[0], numbers[1], numbers[2], {numbers[3], numbers[4]}};
}

void remove_abandoned(const os::Directory& parent) {
  int error = 0;
  for (const std::string& name : parent.names(&error)) {
    const auto preparer = preparer_of(name);
    if (preparer && os::look_for(*preparer) == os::Found::kNo) remove_prepared(parent, name);
  }
}

}  // namespace timeloom::run
