// Tells regions of the user's project from regions of libraries, and from regions that importing
// libraries runs: Python's import system and the bodies of their modules.
//
// A plain value made from the definitions of a run, which must outlive it. Throws only
// std::bad_alloc.
//
// The project is all code below the directory in which the program was started and below the
// directory of its script, except for installed packages and the standard library. A run records
// where these are; for runs of other tools, which do not, the names of directories decide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/definitions.hpp"

namespace timeloom::tools {

enum class Owner : std::uint8_t { kProject, kLibrary, kImport };

class CodeOwner {
 public:
  explicit CodeOwner(const Definitions& definitions);

  Owner of(RegionId region) const { return owners_[region.value()]; }
  bool is_project(RegionId region) const {
    return region.defined() && of(region) == Owner::kProject;
  }
  bool is_import(RegionId region) const { return region.defined() && of(region) == Owner::kImport; }

  // The package by which people know a region: "django", "Python" for the standard library;
  // empty for what belongs to none.
  std::string package_of(RegionId region) const;

  // Whether the file is one of the standard library or of an installed package.
  bool in_library(const std::string& file) const;

  // Counts the functions of a package as part of the project: the package of an installed program.
  // Loading its modules is importing, nevertheless. False: the run has no function of it.
  bool adopt(const std::string& package);
  // The same with the package of the program, as far as the run tells that nothing but its start
  // is below a directory of the user, as of a program that pip has made. A script of the user's own
  // is the project, however little it does itself. False: the definitions do not tell.
  bool adopt_program();

 private:
  Owner owner_of(const Region& region) const;
  bool in_standard_library(const std::string& file) const;

  const Definitions* definitions_;
  std::vector<std::string> projects_;   // directories with a slash at the end
  std::vector<std::string> libraries_;  // in the same form
  std::vector<Owner> owners_;           // by region
};

// The first part of a dotted name.
std::string first_part(const std::string& dotted);

}  // namespace timeloom::tools
