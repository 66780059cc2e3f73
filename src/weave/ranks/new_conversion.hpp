// What the conversions of a rank to OTF2 and to blocks share. Used by one thread; throws Error and
// std::system_error.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "os/directory.hpp"
#include "profile/call_tree_sink.hpp"
#include "weave/ranks/rank_result.hpp"

namespace timeloom::weave {

// The directory of a conversion. No other user can create files in it while it is written, because
// OTF2 follows whatever a path leads to. The destructor removes it unless it was kept.
class NewConversion {
 public:
  explicit NewConversion(const os::Directory& spool) : spool_(spool) {
    int error = spool.make_directory(kConvertedName, 0700);
    if (error == EEXIST) throw Error("there is a conversion already [TL219]");
    if (error == 0) own_ = spool.open_below(kConvertedName, &error);
    if (error == 0 && !own_.is_new_and_private()) error = EEXIST;
    if (error != 0) throw std::system_error(error, std::generic_category());
    path_ = own_.path_of_descriptor();
    if (path_.empty()) throw Error("there is no /proc [TL219]");
  }
  ~NewConversion() {
    if (!kept_) spool_.remove_all(kConvertedName);
  }
  NewConversion(const NewConversion&) = delete;
  NewConversion& operator=(const NewConversion&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }
  // Users that may read the spool may read it.
  void keep() noexcept { kept_ = own_.take_mode_of(spool_) == 0; }

 private:
  const os::Directory& spool_;
  os::Directory own_;
  std::filesystem::path path_;
  bool kept_ = false;
};

// A rank's part of the limits on a profile.
inline profile::CallTreeOptions share_of_rank(std::uint32_t ranks) {
  profile::CallTreeOptions options;
  options.max_nodes /= std::max(ranks, 1u);
  options.max_functions /= std::max(ranks, 1u);
  return options;
}

}  // namespace timeloom::weave
