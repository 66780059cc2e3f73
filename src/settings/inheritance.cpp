#include "settings/inheritance.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <span>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "os/file.hpp"
#include "os/thread.hpp"

namespace timeloom {
namespace {

constexpr char kName[] = "settings";
constexpr std::string_view kCheck = "check=";
constexpr std::string_view kVersion = "version=";
constexpr std::string_view kStart = "start=";
constexpr std::string_view kProperty = "property=";
constexpr std::string_view kExecutable = "executable=";
constexpr std::string_view kSystemClock = "system-clock=on";
constexpr std::string_view kFilterFile = "filter-file=";
constexpr std::string_view kFilterText = "filter-text=";

// A filter file has 64 MiB at most, and the command line much less.
constexpr std::uint64_t kLargest = 80 << 20;

[[noreturn]] void refuse_inheritance(std::string_view record) {
  throw Error("'" + std::string(record.substr(0, 80)) + "' is not a record of settings [TL117]");
}

bool take(std::string_view& record, std::string_view name) {
  if (!record.starts_with(name)) return false;
  record.remove_prefix(name.size());
  return true;
}

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) refuse_inheritance(text);
  return number;
}

void take_property(std::string_view text, RunDescription& description) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) refuse_inheritance(text);
  description.properties.emplace(text.substr(0, equals), text.substr(equals + 1));
}

void take_record(std::string_view record, Inheritance& inheritance) {
  ProgramFacts& program = inheritance.program;
  if (record.starts_with("TIMELOOM_")) {
    inheritance.settings.take_record(record);
  } else if (take(record, kStart)) {
    program.start_ns = number_of(record);
  } else if (take(record, kProperty)) {
    take_property(record, program.description);
  } else if (take(record, kExecutable)) {
    program.description.executable = record;
  } else if (record == kSystemClock) {
    program.description.system_clock = true;
  } else if (take(record, kFilterFile)) {
    program.filter.path = record;
  } else {
    refuse_inheritance(record);
  }
}

// The record that holds the checksum of the others.
std::string check_of(std::string_view records) {
  const auto* bytes = reinterpret_cast<const std::byte*>(records.data());
  return std::string(kCheck) + std::to_string(checksum(bytes, records.size())) + '\0';
}

// Processes of one run have one version, whose settings, records and results are the same.
void take_version(std::string_view& records) {
  const std::string_view first = records.substr(0, records.find('\0'));
  std::string_view version = first;
  if (!take(version, kVersion)) version = "of another version";
  if (version != TIMELOOM_VERSION) {
    throw Error("the run is recorded by Timeloom " + std::string(version.substr(0, 80)) +
                ", and this is " TIMELOOM_VERSION "; install the same version for both [TL118]");
  }
  records.remove_prefix(std::min(records.size(), first.size() + 1));
}

}  // namespace

std::string as_text(const Inheritance& inheritance) {
  const ProgramFacts& program = inheritance.program;
  const RunDescription& description = program.description;
  std::string text = inheritance.settings.as_records();
  const auto add = [&](std::string_view name, const std::string& value) {
    text.append(name).append(value).push_back('\0');
  };
  add(kStart, std::to_string(program.start_ns));
  for (const auto& [name, value] : description.properties) add(kProperty, name + "=" + value);
  if (!description.executable.empty()) add(kExecutable, description.executable);
  if (description.system_clock) add(kSystemClock, "");
  if (!program.filter.path.empty()) {
    add(kFilterFile, program.filter.path);
    text.append(kFilterText).append(program.filter.text);
  }
  return text;
}

Inheritance inheritance_of(std::string_view text) {
  Inheritance inheritance;
  while (!text.empty()) {
    if (take(text, kFilterText)) {
      inheritance.program.filter.text = text;
      return inheritance;
    }
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) refuse_inheritance(text);  // cut off
    take_record(text.substr(0, end), inheritance);
    text.remove_prefix(end + 1);
  }
  return inheritance;
}

std::string as_file(const Inheritance& inheritance) {
  const std::string records =
      std::string(kVersion) + TIMELOOM_VERSION + '\0' + as_text(inheritance);
  return check_of(records) + records;
}

// A name that only this process uses, so that a file left by a killed one is in nobody's way.
void save(const Inheritance& inheritance, const KnownDirectory& spools) {
  const std::string text = as_file(inheritance);
  const std::string making = std::string(".") + kName + "-" + std::to_string(os::process_id());
  int error = 0;
  const os::Directory directory = spools.open(&error);
  if (error == 0) error = directory.remove_file(making);
  os::File file = error == 0 ? directory.create_file(making, &error) : os::File();
  if (error == 0) error = file.write_at(0, std::as_bytes(std::span(text)));
  if (error == 0) error = directory.rename(making, directory, kName);
  if (error != 0) {
    throw Error("cannot write " + spools.path() + "/" + kName + ": " + reason_of(error) +
                " [TL241]");
  }
}

Inheritance load_inheritance(const KnownDirectory& spools) {
  const std::string path = spools.path() + "/" + kName;
  int error = 0;
  const os::Directory directory = spools.open(&error);
  const os::File file = error == 0 ? directory.open_file(kName, &error) : os::File();
  if (error == 0 && !file.is_plain()) error = EINVAL;
  const std::uint64_t size = error == 0 ? file.size(&error) : 0;
  if (error == 0 && size > kLargest) error = EFBIG;
  std::string text(error == 0 ? size : 0, '\0');
  if (error == 0) text.resize(file.read_at(0, std::as_writable_bytes(std::span(text)), &error));
  if (error != 0) throw Error("cannot read " + path + ": " + reason_of(error) + " [TL210]");
  const std::size_t begin = text.find('\0') + 1;  // 0: there is no record at all
  std::string_view records = std::string_view(text).substr(begin);
  if (std::string_view(text).substr(0, begin) != check_of(records)) {
    throw Error("the settings in " + path + " are damaged [TL117]");
  }
  take_version(records);
  return inheritance_of(records);
}

}  // namespace timeloom
