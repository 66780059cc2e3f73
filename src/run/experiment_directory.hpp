// The experiment directory of Score-P: the run directory for users whose scripts expect
// Score-P's names. Conventions of Score-P 8.4:
//
//   * SCOREP_EXPERIMENT_DIRECTORY names it, from the directory in which the program
//     started; without it the work is done in scorep-measurement-tmp, which becomes
//     scorep-DATE_TIME_TICKS when the run is complete;
//   * a directory that has the name already is renamed: NAME-DATE_TIME_TICKS with the
//     time of its last change, or scorep-failed-... for a work directory that was left
//     over. Nothing is ever removed;
//   * it holds MANIFEST.md, scorep.cfg and the filter file from the start.
//
// Unlike Score-P, we leave a directory alone that another process is writing, and use
// NAME.PID instead. And we never rename a directory in which the user works: the current
// directory, the program's, the home directory, or a parent of these.
// Functions throw Error; one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/known_directory.hpp"
#include "os/directory.hpp"
#include "run/profile_name.hpp"

namespace timeloom::run {

// The treatment of a directory that has the name already.
enum class InTheWay : std::uint8_t {
  kAsScorepSays,  // ExperimentOptions::overwrite decides
  kRefused,       // the rules of --output: only an empty one will do,
  kRenamed,       // or with --force a finished run, which gets another name
};

struct ExperimentOptions {
  std::string directory;  // as the user names it; empty: a name of its own
  std::string suffix;     // added to the name, also to the final one
  InTheWay in_the_way = InTheWay::kAsScorepSays;
  bool overwrite = true;          // a directory that has the name may be renamed
  std::filesystem::path program;  // absolute path of the script, or empty
  std::filesystem::path filter;   // the filter file, or empty

  // The results that will be written, for the manifest.
  bool trace = false;
  bool profile = false;
  std::optional<ProfileName> profile_name;  // none: the name in the table

  std::string settings;                // the text of scorep.cfg
  std::vector<std::string> variables;  // the names of those that were set
};

// A directory is in the way that may not be renamed: the program must not run, as with Score-P.
class DirectoryTaken : public Error {
 public:
  using Error::Error;
};

class ExperimentDirectory {
 public:
  // Chooses the path from the options and the current directory. Throws if the path may
  // not be used: it is not a directory, it exists and may not be renamed, or its parent
  // does not exist. Changes nothing.
  explicit ExperimentDirectory(ExperimentOptions options);
  // A directory that another process of the same job has made, to be finished by this process.
  static ExperimentDirectory joined(ExperimentOptions options, const KnownDirectory& run);
  // The path given by the options. Throws if the current directory has been removed.
  static std::filesystem::path path_of(const ExperimentOptions& options);

  // Makes it, with its files.
  void create();
  // To be called when the run is complete: gives the directory its final name. Throws if another
  // directory has taken its path.
  void finish();

  const std::filesystem::path& path() const noexcept { return path_; }
  // Identifies the directory even if it was renamed; not known before create().
  const os::DirectoryId& id() const noexcept { return id_; }
  // The new path of the directory that had the name before; empty: there was none.
  const std::filesystem::path& previous() const noexcept { return previous_; }
  // Whether another process writes the directory of that name; then path() is beside it.
  bool evaded() const noexcept { return evaded_; }

 private:
  // A directory that must stay where it is, and its meaning for the user.
  struct Home {
    std::filesystem::path path;  // canonical
    std::string what;
  };

  ExperimentDirectory(ExperimentOptions options, std::filesystem::path path)
      : options_(std::move(options)), path_(std::move(path)) {}
  bool named() const noexcept { return !options_.directory.empty(); }  // found under that name
  bool as_scorep() const noexcept { return options_.in_the_way == InTheWay::kAsScorepSays; }
  void remember_homes();
  void refuse_homes() const;
  void refuse_link_of_another(const std::string& link) const;
  void refuse_unusable() const;
  void refuse_as_scorep() const;
  void refuse_as_output() const;
  std::string mend() const;
  [[noreturn]] void fail(const std::filesystem::path& path, int error) const;
  os::Directory open_parent(bool makes = false) const;
  std::string make_hidden_directory(const os::Directory& parent) const;
  void fill(const os::Directory& parent, const std::string& hidden);
  void make_room(const os::Directory& parent);
  void evade();
  void shorten_manifest(const os::Directory& directory) const;

  ExperimentOptions options_;
  std::filesystem::path path_;
  std::filesystem::path previous_;
  std::vector<Home> homes_;
  bool evaded_ = false;
  os::File manifest_;  // marked as in use while the directory is being written
  os::DirectoryId id_;
};

}  // namespace timeloom::run
