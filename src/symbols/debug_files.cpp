#include "symbols/debug_files.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace timeloom::symbols {
namespace {

constexpr char kSystemDirectory[] = "/usr/lib/debug";

// The spool from which it comes may be damaged or forged: nothing but digits goes into a path.
bool is_build_id(std::string_view text) noexcept {
  return text.size() > 2 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string place_by_build_id(const std::string& directory, const std::string& build_id) {
  return directory + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2);
}

class Search {
 public:
  Search(const CodeObject& object, const std::vector<std::string>& directories)
      : object_(object), directories_(directories), has_id_(is_build_id(object.build_id)) {}

  std::vector<ElfFile> all() {
    if (!object_.build_id.empty() && !has_id_) return {};
    if (object_.path.starts_with('/')) add(object_.path, is_unchanged);
    for (const std::string& directory : directories_) look_in(directory);
    if (has_id_) add(place_by_build_id(kSystemDirectory, object_.build_id) + ".debug", is_same);
    for (std::size_t i = 0, own = found_.size(); i < own; ++i) follow_link_of(i);
    return std::move(found_);
  }

 private:
  using Belief = bool (*)(const CodeObject& object, const ElfFile& file);

  static bool has_same_id(const CodeObject& object, const ElfFile& file) {
    return !object.build_id.empty() && file.build_id() == object.build_id;
  }
  static bool is_unchanged(const CodeObject& object, const ElfFile& file) {
    if (!object.build_id.empty()) return has_same_id(object, file);
    return is_same(object, file) && file.changed_ns() == object.changed_ns;
  }
  // A copy has the time of the copying.
  static bool is_same(const CodeObject& object, const ElfFile& file) {
    if (!object.build_id.empty()) return has_same_id(object, file);
    return file.build_id().empty() && object.size != 0 && file.size() == object.size;
  }

  // The last files add nothing to these.
  bool has_everything() const {
    return std::ranges::any_of(found_, &ElfFile::has_all_symbols) &&
           std::ranges::any_of(found_, &ElfFile::has_lines);
  }

  void take(ElfFile file) {
    taken_.insert(file.path());
    found_.push_back(std::move(file));
  }

  void add(const std::string& path, Belief belief) {
    if (has_everything() || taken_.contains(path)) return;
    std::optional<ElfFile> file = ElfFile::open(path);
    if (file && belief(object_, *file)) take(std::move(*file));
  }

  void look_in(const std::string& directory) {
    if (has_id_) {
      const std::string place = place_by_build_id(directory, object_.build_id);
      add(place + ".debug", is_same);
      add(place, is_same);
    }
    const std::string name(file_name(object_));
    if (name.empty()) return;
    if (object_.path.starts_with('/')) add(directory + object_.path, is_same);
    add(directory + "/" + name, is_same);
    add(directory + "/" + name + ".debug", is_same);
  }

  // A debug file has the build id of its object or, if there are none, the checksum in the link.
  void add_linked(const std::string& path, std::uint32_t check) {
    if (has_everything() || taken_.contains(path)) return;
    std::optional<ElfFile> file = ElfFile::open(path);
    if (!file) return;
    const bool ids = has_id_ && !file->build_id().empty();
    if (ids ? has_same_id(object_, *file) : file->check() == check) take(std::move(*file));
  }

  void follow_link_of(std::size_t index) {
    const std::string link = found_[index].debug_link();
    const std::uint32_t check = found_[index].debug_link_check();
    if (link.empty() || link.find('/') != std::string::npos) return;
    const std::string& path = found_[index].path();
    const std::string folder = path.substr(0, path.rfind('/'));
    for (const std::string& place : {folder, folder + "/.debug", kSystemDirectory + folder}) {
      add_linked(place + "/" + link, check);
    }
    for (const std::string& directory : directories_) add_linked(directory + "/" + link, check);
  }

  const CodeObject& object_;
  const std::vector<std::string>& directories_;
  const bool has_id_;
  std::vector<ElfFile> found_;
  std::set<std::string> taken_;  // their paths
};

}  // namespace

std::vector<ElfFile> files_of(const CodeObject& object,
                              const std::vector<std::string>& directories) {
  return Search(object, directories).all();
}

}  // namespace timeloom::symbols
