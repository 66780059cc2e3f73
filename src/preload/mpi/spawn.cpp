#include "preload/mpi/spawn.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "core/executable.hpp"
#include "core/known_directory.hpp"
#include "core/native_run.hpp"
#include "record/native/program_session.hpp"

namespace timeloom::mpi {
namespace {

constexpr char kEnv[] = "/usr/bin/env";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

bool has_key(Handle info, const char* key) noexcept {
  if (abi()->handle(info) == abi()->no_info) return false;
  char value[2] = {};
  int flag = 0;
  real<int(Handle, const char*, int, char*, int*)>(Function::kInfo_get)(info, key, 1, value, &flag);
  return flag != 0;
}

// The path of this process's spool, which a Python process passes to its children; empty: none.
std::string own_spool() {
  std::string spool = variable(kParentVariable);
  return spool.empty() ? record::program_spool() : spool;
}

// The command that starts another one so that it is measured like this process. A Python process
// does this itself.
std::vector<std::string> launcher() {
  if (!variable(kParentVariable).empty()) return {};
  return {variable(kNativeLauncherVariable), "run", "--program"};
}

// True if env(1) finds the same program as MPI does.
bool can_be_followed(const SpawnedCommand& given) {
  const std::string command = given.command;
  if (command.empty() || command.starts_with('-') || command.find('=') != std::string::npos)
    return false;
  if (!is_executable(kEnv)) return false;
  if (const auto words = launcher(); !words.empty() && !is_executable(words[0].c_str()))
    return false;
  if (!command.starts_with('/') && has_key(given.info, "path")) return false;
  const bool is_relative = !command.starts_with('/') && command.find('/') != std::string::npos;
  if (is_relative && has_key(given.info, "wdir")) return false;
  return !find_executable(command).empty();
}

// 0: no number is available.
std::uint32_t new_number() {
  constexpr std::uint32_t kMost = 1 << 20;
  static std::atomic<std::uint32_t> next = 1;  // other processes have used lower numbers
  const std::string run = run_of_spool(own_spool());
  if (run.empty()) return 0;
  int error = 0;
  const KnownDirectory spawns = KnownDirectory(run, directory_id_in(variable(kRunIdVariable)))
                                    .make_below(std::string("spool/") + kSpawnedName, &error);
  const os::Directory directory = error == 0 ? spawns.open(&error) : os::Directory();
  for (std::uint32_t number = next; error == 0 && number < kMost; ++number) {
    const int taken = directory.make_directory(std::to_string(number));
    if (taken == 0) next = number + 1;
    if (taken != EEXIST) return taken == 0 ? number : 0;
  }
  return 0;
}

std::unique_ptr<Spawn> read_own_spawn() {
  const auto spawn = spawn_in(variable(kSpawnVariable));
  return spawn ? std::make_unique<Spawn>(*spawn) : nullptr;
}

}  // namespace

const Spawn* own_spawn() noexcept try {
  static const Spawn* const kOwn = read_own_spawn().release();  // never destroyed
  return kOwn;
} catch (const std::bad_alloc&) {
  return nullptr;
}

bool is_followed() noexcept try {
  return abi() != nullptr && !own_spool().empty();
} catch (const std::bad_alloc&) {
  return false;
}

SpawnedCommand SpawnedCommands::followed(const SpawnedCommand& given) noexcept try {
  if (given.command == nullptr || !can_be_followed(given)) {
    std::fprintf(stderr,
                 "timeloom: spawned processes are not measured: %s is not a program that is "
                 "found here [TL037]\n",
                 given.command == nullptr ? "" : given.command);
    return given;
  }
  if (number_ == 0) number_ = new_number();
  if (number_ == 0) return given;
  auto line = std::make_unique<Line>();
  line->words = {std::string(kParentVariable) + "=" + own_spool(),
                 std::string(kRunIdVariable) + "=" + variable(kRunIdVariable),
                 std::string(kSpawnVariable) + "=" + text_of(Spawn{number_, identity_})};
  for (std::string& word : launcher()) line->words.push_back(std::move(word));
  line->words.emplace_back(given.command);
  for (std::string& word : line->words) line->pointers.push_back(word.data());
  for (char** next = given.arguments; next != nullptr && *next != nullptr; ++next) {
    line->pointers.push_back(*next);
  }
  line->pointers.push_back(nullptr);
  lines_.push_back(std::move(line));
  return {kEnv, lines_.back()->pointers.data(), given.info};
} catch (const std::exception&) {
  return given;
}

SpawnedLists::SpawnedLists(SpawnedCommands& all, int count, char** commands, char*** arguments,
                           const void* infos) noexcept try {
  static char* no_arguments[] = {nullptr};
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    const SpawnedCommand one = all.followed(
        {commands[i], arguments == nullptr ? nullptr : arguments[i], abi()->load(infos, place)});
    commands_.push_back(const_cast<char*>(one.command));  // MPI does not change it
    arguments_.push_back(one.arguments == nullptr ? no_arguments : one.arguments);
  }
} catch (const std::bad_alloc&) {
  given_commands_ = commands;
  given_arguments_ = arguments;
}

}  // namespace timeloom::mpi
