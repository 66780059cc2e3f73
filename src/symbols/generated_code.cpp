#include "symbols/generated_code.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>

namespace timeloom::symbols {
namespace {

constexpr off_t kLargestFile = 64 << 20;
// A process writes its last names after its measurement has ended, and its first ones before it has
// begun.
constexpr std::uint64_t kAround = 10'000'000'000;

std::string reason_against(const struct stat& facts, const GeneratedCode::Life& life) {
  const std::uint64_t changed = static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(facts.st_mtim.tv_nsec);
  if (!S_ISREG(facts.st_mode)) return "is not a file";
  if (facts.st_uid != ::geteuid()) return "belongs to another user";
  if (facts.st_size > kLargestFile) return "is larger than 64 MB";
  if (changed + kAround < life.begin_ns) return "is older than the process";
  if (life.end_ns != 0 && changed > life.end_ns + kAround) return "is of a later process";
  return {};
}

std::optional<std::uint64_t> take_hex_number(std::string_view& line) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  const auto used = static_cast<std::size_t>(end - line.data());
  if (error != std::errc() || used == line.size() || line[used] != ' ') return std::nullopt;
  line.remove_prefix(used + 1);
  return number;
}

}  // namespace

void GeneratedCode::add_line(std::string_view line) {
  const auto start = take_hex_number(line);
  const auto size = start ? take_hex_number(line) : std::nullopt;
  if (size && !line.empty()) functions_.push_back({*start, *size, line});
}

void GeneratedCode::read(const os::File& file) {
  int error = 0;
  const std::uint64_t size = file.size(&error);  // it may have grown since it was looked at
  text_.resize(std::min<std::uint64_t>(size, kLargestFile));
  text_.resize(file.read_at(0, std::as_writable_bytes(std::span(text_)), &error));
  const std::string_view text(text_.data(), error == 0 ? text_.size() : 0);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    add_line(text.substr(at, end - at));
    at = end + 1;
  }
  std::ranges::stable_sort(functions_, {}, &Function::start);
}

GeneratedCode GeneratedCode::in_file(const std::string& path, const Life& life) {
  GeneratedCode made;
  const os::File file(
      ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat facts {};
  if (!file.is_open() && errno == ENOENT) return made;
  if (!file.is_open() || ::fstat(file.fd(), &facts) != 0) {
    made.refusal_ = errno == ELOOP ? "is a link" : "cannot be read";
  } else {
    made.refusal_ = reason_against(facts, life);
  }
  if (made.refusal_.empty()) {
    made.read(file);
  } else {
    made.refusal_ = path + " " + made.refusal_;
  }
  return made;
}

GeneratedCode GeneratedCode::of_process(std::uint64_t process_id, const Life& life) {
  return in_file("/tmp/perf-" + std::to_string(process_id) + ".map", life);
}

std::string_view GeneratedCode::name_at(std::uint64_t address) const noexcept {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::start);
  if (after == functions_.begin()) return {};
  const Function& function = *std::prev(after);
  return address - function.start < function.size ? function.name : std::string_view();
}

}  // namespace timeloom::symbols
