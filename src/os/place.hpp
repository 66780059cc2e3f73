// The place that a path leads to, found by walking it name by name from / or from the current
// directory. A link on the way, or at its end, is followed only if it belongs to this user or to
// the superuser: one of another user, in a directory that is shared, would have chosen what is
// made and replaced there. The way is walked with open directories, so that nobody can put a link
// in the place of what has been looked at.
//
// Plain functions for any thread. Nothing is thrown but what memory can; errors are errno values
// (0: success).
#pragma once

#include <string>

#include "os/directory.hpp"

namespace timeloom::os {

struct Place {
  Directory directory;  // in which it lies; not to be listed
  std::string name;     // of it there, of no link that can be followed; ".": the directory itself
  std::string link;     // the link of another user that is in the way; empty: there is none
  bool made = false;    // by make_directories(), the last one
  int error = 0;        // then `directory` is not open; with a link ELOOP

  // The directory of that name. ELOOP, ENOTDIR: it has become a link.
  Directory open(int* error) const noexcept;  // to be listed and locked
  Directory open_unlisted(int* error) const noexcept;
};

// Whether this user trusts what that one has made: it is this user or the superuser, or has the
// number of the superuser where numbers are mapped in part (then / belongs to it).
bool is_trusted(unsigned user) noexcept;

// There need not be anything of the last name.
Place place_of(const std::string& path);
// The same with each directory of the path made that is not there, the last one, too.
Place make_directories(const std::string& path);
// As Place::link.
std::string link_of_another_user(const std::string& path);

}  // namespace timeloom::os
