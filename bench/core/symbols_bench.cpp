// 100,000 addresses in 50 libraries of 2,000 functions each, as weaving a large run looks them up:
// the libraries are opened, their symbols are sorted, the names are demangled. The libraries are
// compiled by the benchmark, without debug information: lines depend on libdw.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "symbols/code_names.hpp"
#include "symbols/elf_file.hpp"

namespace {

using namespace timeloom;
namespace fs = std::filesystem;

constexpr int kLibraries = 50;
constexpr int kFunctions = 2000;

// 50 files, so that each of them is opened and read.
class Libraries {
 public:
  Libraries() {
    std::string path = (fs::temp_directory_path() / "timeloom-bench-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) std::abort();
    directory_ = path;
    std::ofstream text(directory_ / "library.cpp");
    text << "namespace solver { template <typename T> struct Grid { T step(T value, int n); };\n"
         << "template <int N> struct Number {};\n";
    for (int i = 0; i < kFunctions; ++i) {
      text << "int function_" << i << "(Grid<double>* grid, Number<" << i << ">) { return " << i
           << "; }\n";
    }
    text << "}\n";
    text.close();
    const std::string compile = std::string(TIMELOOM_BENCH_CXX) + " -O0 -fPIC -shared -o " +
                                file(0) + " " + (directory_ / "library.cpp").string() +
                                " -Wl,--build-id";
    if (std::system(compile.c_str()) != 0) std::abort();
    for (int i = 1; i < kLibraries; ++i) fs::copy_file(file(0), file(i));
    const auto functions = symbols::ElfFile::open(file(0))->functions();
    for (std::uint64_t address = 0; addresses_.size() < kFunctions && address < 1 << 24;
         ++address) {
      const auto found = functions.find(address);
      if (found && found->address == address && found->name.starts_with("_ZN6solver")) {
        addresses_.push_back(address);
      }
    }
    if (addresses_.size() != kFunctions) std::abort();
  }
  ~Libraries() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }

  std::string file(int i) const {
    return (directory_ / ("library-" + std::to_string(i) + ".so")).string();
  }
  const std::vector<std::uint64_t>& addresses() const { return addresses_; }

 private:
  fs::path directory_;
  std::vector<std::uint64_t> addresses_;
};

void resolve(benchmark::State& state) {
  const Libraries libraries;
  std::vector<CodeObject> objects;
  for (int i = 0; i < kLibraries; ++i) {
    objects.push_back({libraries.file(i), symbols::ElfFile::open(libraries.file(i))->build_id()});
  }
  for (auto _ : state) {
    symbols::CodeNames names;
    std::size_t named = 0;
    for (const CodeObject& object : objects) {
      for (const std::uint64_t address : libraries.addresses()) {
        named += names.find(object, address, symbols::CodeNames::Line::kOfFunction) ? 1 : 0;
      }
    }
    if (named != std::size_t{kLibraries} * kFunctions) state.SkipWithError("not all have names");
  }
}
BENCHMARK(resolve)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
