// The target of a path: an open directory and a name in it. A path is resolved name by
// name, from / or from the current directory. A link in it is followed only if it belongs to this
// user or to the superuser: with a link in a shared directory, another user could choose the files
// that this process makes and replaces. Every directory stays open until the next one is open, so
// that nobody can put a link in place of a directory that was already checked.
//
// Plain functions for any thread. They throw nothing but std::bad_alloc; errors are errno values
// (0: success).
#pragma once

#include <string>

#include "os/directory.hpp"

namespace timeloom::os {

struct ResolvedPath {
  Directory directory;  // that contains the name; not to be listed
  std::string name;     // not of a link that can be followed; ".": the directory itself
  std::string link;     // a link of another user, where the search stopped; empty: there is none
  bool made = false;    // whether make_directories() has made the last directory
  int error = 0;        // if not 0, `directory` is not open; ELOOP: there is a `link`

  // Opens the directory `name`. ELOOP, ENOTDIR: a link has taken its place.
  Directory open(int* error) const noexcept;  // to be listed and locked
  Directory open_unlisted(int* error) const noexcept;
};

// Whether this user trusts files that `user` has made: it is this user or the superuser, or the id
// that stands for the superuser in a user namespace that maps only some ids (then / belongs to it).
bool is_trusted(unsigned user) noexcept;

// The last name need not exist.
ResolvedPath resolve_path(const std::string& path);
// The same, and makes every directory of the path that is missing, the last one included.
ResolvedPath make_directories(const std::string& path);
// As ResolvedPath::link.
std::string link_of_another_user(const std::string& path);

}  // namespace timeloom::os
