#include "run/spool_for_other.hpp"

#include <unistd.h>

#include <cstring>
#include <span>
#include <system_error>

#include "core/error.hpp"

namespace timeloom::run {
namespace {

constexpr char kSettingsName[] = "settings";

void check(int error, const Directory& run, const char* name) {
  if (error == 0) return;
  throw Error("cannot prepare " + (run.path() / name).string() + ": " + std::strerror(error) +
              " [TL231]");
}

}  // namespace

Directory open_for_other(const KnownDirectory& run, std::optional<unsigned> user) try {
  Directory directory = Directory::open(run);
  if (user && (!directory.is_at_its_path() || directory.owner() != ::geteuid())) {
    throw Error(
        run.path() +
        " is a link, or of another user; choose a directory of your own with --output [TL221]");
  }
  return directory;
} catch (const std::system_error& error) {
  throw Error(error.what());
}

void make_spool_for_other(const Directory& run, std::string_view settings,
                          std::optional<unsigned> user) try {
  const os::Directory spool = run.make_plain_directory(Item::kSpool);
  int error = 0;
  os::File file = spool.create_file(kSettingsName, &error);
  if (error == 0) error = file.write_at(0, std::as_bytes(std::span(settings)));
  if (error == 0 && user) error = file.give_to(*user);
  check(error, run, "spool/settings");
  if (!user) return;
  check(spool.give_to(*user), run, "spool");
  run.let_through();
} catch (const std::system_error& error) {
  throw Error(error.what());
}

}  // namespace timeloom::run
