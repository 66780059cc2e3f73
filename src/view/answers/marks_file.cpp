#include "view/answers/marks_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <span>

#include "core/error.hpp"
#include "exchange/destination.hpp"
#include "os/file.hpp"
#include "view/answers/json_strings.hpp"
#include "view/index/index_format.hpp"
#include "view/index/stored_index.hpp"

namespace timeloom::view {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMarks = 500;
constexpr std::size_t kMostBytes = 4096;  // of a note
constexpr std::size_t kMostOfFile = 4 << 20;

// Keeps only the marks in the text. Empty: the text is not a list of marks.
std::optional<Json> marks_in(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", Json()) != 1) return {};
  const Json given = json.value("marks", Json());
  if (!given.is_array() || given.size() > kMostMarks) return {};
  Json marks = Json::array();
  for (const Json& one : given) {
    if (!one.is_object()) return {};
    const Json time = one.value("time", Json()), note = one.value("text", Json());
    if (!time.is_number() || !note.is_string()) return {};
    const auto ticks = time.get<double>();
    const auto& words = note.get_ref<const std::string&>();
    if (!(ticks >= 0 && ticks <= static_cast<double>(kLastTime)) || words.size() > kMostBytes)
      return {};
    marks.push_back({{"time", static_cast<std::uint64_t>(ticks)}, {"text", words}});
  }
  return marks;
}

std::optional<Json> marks_at(const fs::path& path) {
  if (path.empty()) return {};
  const os::File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(std::min(static_cast<std::size_t>(status.st_size), kMostOfFile), '\0');
  int error = 0;
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text)), &error));
  return marks_in(text);
}

bool write_at(const fs::path& path, const std::string& text) {
  try {
    std::error_code none;
    if (path.empty() || fs::is_symlink(fs::symlink_status(path, none))) return false;
    exchange::Destination out(path.string(), true);
    out.write(text);
    out.finish();
    return true;
  } catch (const Error&) {
    return false;  // the other place is tried
  }
}

}  // namespace

MarksFile::MarksFile(const fs::path& anchor)
    : beside_(index_path_beside(anchor).replace_extension(".json")),
      in_cache_(index_path_in_cache(anchor)) {
  if (!in_cache_.empty()) in_cache_.replace_extension(".json");
}

std::string MarksFile::read() const {
  const std::lock_guard lock(mutex_);
  for (const fs::path& path : {beside_, in_cache_}) {
    if (const std::optional<Json> marks = marks_at(path)) return json_text(*marks);
  }
  return "[]";
}

std::optional<std::string> MarksFile::keep(std::string_view json) const {
  const std::optional<Json> marks = marks_in(json);
  if (!marks) return {};
  const std::string text = json_text(Json{{"version", 1}, {"marks", *marks}}) + "\n";
  const std::lock_guard lock(mutex_);
  if (write_at(beside_, text)) return beside_.string();
  if (in_cache_.empty()) return "";
  std::error_code ignored;
  fs::create_directories(in_cache_.parent_path(), ignored);
  return write_at(in_cache_, text) ? in_cache_.string() : "";
}

}  // namespace timeloom::view
