// Names and lines of a compiled library: with its symbols, stripped, with debug files in each
// place.
#include "symbols/code_names.hpp"

#include <chrono>
#include <set>

#include "compiled.hpp"
#include "symbols/line_reader.hpp"

namespace timeloom::symbols {
namespace {

class CodeNamesTest : public CompiledTest {
 protected:
  std::string name(const CodeObject& object, std::uint64_t address,
                   const std::vector<std::string>& directories = {}) {
    const auto found = CodeNames(directories).find(object, address, CodeNames::Line::kOfFunction);
    return found ? found->name : "none";
  }
  std::string hidden(const std::vector<std::string>& directories = {}) {
    return name(object_, addresses_.at("hidden"), directories);
  }
  // Compiles the library and notes its object and its addresses.
  void make(const std::string& options = "-Wl,--build-id=sha1") {
    compile(library_, options);
    object_ = object_at(library_);
    addresses_ = addresses_in(library_);
  }
  void move_library() { fs::rename(library_, directory_ / "gone"); }

  const std::string library_ = directory_ / "lib/libgrid.so";
  CodeObject object_;
  std::map<std::string, std::uint64_t> addresses_;
};

TEST_F(CodeNamesTest, FunctionsAreNamedByAllSymbols) {
  make();
  EXPECT_EQ(object_.build_id.size(), 40u);
  CodeNames names;
  const auto find = [&](const std::string& symbol, std::uint64_t offset = 0) {
    const auto found =
        names.find(object_, addresses_.at(symbol) + offset, CodeNames::Line::kOfFunction);
    return found ? found->name + " | " + found->whole_name : "none";
  };
  EXPECT_EQ(find("plain"), "plain | plain");
  EXPECT_EQ(find("plain", 1), "plain | plain");
  EXPECT_EQ(find("hidden"), "hidden | hidden");
  EXPECT_EQ(find("_ZNK6solver4Grid4stepEi"), "solver::Grid::step | solver::Grid::step(int) const");
  EXPECT_EQ(find("_ZN6solver5twiceIiEET_S1_"), "solver::twice<int> | int solver::twice<int>(int)");
  EXPECT_EQ(name(object_, 1), "none");
  EXPECT_EQ(name(object_, UINT64_MAX), "none");
}

TEST_F(CodeNamesTest, LinesAreThoseOfTheFunctionOrOfTheAddress) {
  make();
  if (!LineReader::available()) GTEST_SKIP() << "there is no libdw";
  CodeNames names;
  const std::uint64_t step = addresses_.at("_ZNK6solver4Grid4stepEi");
  const auto start = names.find(object_, step, CodeNames::Line::kOfFunction);
  EXPECT_EQ(start->file, directory_ / "library.cpp");
  EXPECT_EQ(start->line, 3u);
  // Behind the first instructions lies the body, in the next line.
  std::set<std::uint32_t> lines;
  for (std::uint64_t offset = 0; offset < 12; ++offset) {
    EXPECT_EQ(names.find(object_, step + offset, CodeNames::Line::kOfFunction)->line, 3u);
    lines.insert(names.find(object_, step + offset, CodeNames::Line::kOfAddress)->line);
  }
  EXPECT_EQ(lines, (std::set<std::uint32_t>{3, 4}));
  const auto advance = names.find(object_, addresses_.at("advance_"), CodeNames::Line::kOfFunction);
  EXPECT_EQ(advance->name, "advance");  // as it was written in Fortran
  EXPECT_EQ(fs::path(advance->file).filename(), "heat.f90");
  EXPECT_EQ(advance->line, 70u);
}

// Clang writes no index of the units.
TEST_F(CodeNamesTest, LinesAreFoundWithoutAnIndex) {
  make();
  if (!LineReader::available()) GTEST_SKIP() << "there is no libdw";
  run_tool("objcopy --remove-section .debug_aranges " + library_);
  const std::uint64_t plain = addresses_.at("plain");
  EXPECT_EQ(CodeNames().find(object_, plain, CodeNames::Line::kOfFunction)->line, 13u);
  EXPECT_EQ(CodeNames().find(object_, plain, CodeNames::Line::kOfAddress)->line, 13u);
}

TEST_F(CodeNamesTest, AStrippedLibraryHasTheNamesOfTheDynamicLinker) {
  make();
  strip(library_);
  EXPECT_EQ(name(object_, addresses_.at("plain")), "plain");
  EXPECT_EQ(hidden(), "none");
  CodeNames names;
  for (const char* const symbol : {"hidden", "plain", "_ZNK6solver4Grid4stepEi"}) {
    const std::uint64_t start = addresses_.at(symbol);
    EXPECT_EQ(names.start_of_function(object_, start), start);
    EXPECT_EQ(names.start_of_function(object_, start + 3), start);
  }
  EXPECT_EQ(names.start_of_function(object_, 1), std::nullopt);
}

TEST_F(CodeNamesTest, ADebugFileIsFoundByTheLink) {
  for (const char* place : {"lib/libgrid.so.debug", "lib/.debug/libgrid.so.debug"}) {
    make();
    split(library_, directory_ / place);
    EXPECT_EQ(hidden(), "hidden") << place;
    fs::remove(directory_ / place);
    EXPECT_EQ(hidden(), "none");
  }
}

TEST_F(CodeNamesTest, WithoutBuildIdsTheChecksumOfTheLinkCounts) {
  make("-Wl,--build-id=none");
  EXPECT_EQ(object_.build_id, "");
  const std::string debug = directory_ / "lib/libgrid.so.debug";
  split(library_, debug);
  object_ = object_at(library_);
  EXPECT_EQ(hidden(), "hidden");
  test::write_bytes(debug, test::read_bytes(debug) + "x");
  EXPECT_EQ(hidden(), "none");
}

TEST_F(CodeNamesTest, DirectoriesAreSearchedByBuildIdAndByName) {
  make();
  const std::string id = object_.build_id;
  const std::string by_id = ".build-id/" + id.substr(0, 2) + "/" + id.substr(2);
  const std::string symbols = directory_ / "symbols";
  for (const std::string& place : {by_id + ".debug", by_id, std::string("libgrid.so"),
                                   std::string("libgrid.so.debug"), library_.substr(1)}) {
    make();
    split(library_, symbols + "/" + place, false);
    EXPECT_EQ(hidden(), "none");
    EXPECT_EQ(hidden({directory_ / "other", symbols}), "hidden") << place;
    move_library();
    EXPECT_EQ(hidden({symbols}), "hidden") << place;
    fs::remove_all(symbols);
  }
}

TEST_F(CodeNamesTest, AFileWithAnotherBuildIdIsNotBelieved) {
  make();
  compile(library_, "-Wl,--build-id=0x0123456789");
  EXPECT_EQ(name(object_, addresses_.at("plain")), "none");
  EXPECT_EQ(hidden({directory_ / "lib"}), "none");
  compile(library_, "-Wl,--build-id=none");
  EXPECT_EQ(hidden({directory_ / "lib"}), "none");
  object_.build_id = "../../lib";
  EXPECT_EQ(hidden({directory_ / "lib"}), "none");
}

TEST_F(CodeNamesTest, WithoutABuildIdTheFileMustBeUnchanged) {
  make("-Wl,--build-id=none");
  EXPECT_EQ(hidden(), "hidden");
  const auto time = fs::last_write_time(library_);
  fs::last_write_time(library_, time + std::chrono::seconds(1));
  EXPECT_EQ(hidden(), "none");
  EXPECT_EQ(hidden({directory_ / "lib"}), "hidden");  // a copy, by its size
  test::write_bytes(library_, test::read_bytes(library_) + "x");
  fs::last_write_time(library_, time);
  EXPECT_EQ(hidden({directory_ / "lib"}), "none");
}

}  // namespace
}  // namespace timeloom::symbols
