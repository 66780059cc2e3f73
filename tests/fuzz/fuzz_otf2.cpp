// Any bytes as the files of an OTF2 archive, as a stranger may hand one over: read, or refused with
// an Error of one line. The events that are read keep the promises that every sink relies on.
//
// An input is the files one after the other, each after two bytes with its length: traces.otf2,
// traces.def, traces.marker, and of the locations 0, 1 and 4294967296 the definitions and the
// events. A file of no bytes is missing. `make_seeds.py --archive` packs an archive in this way.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "formats/otf2/otf2.hpp"

namespace timeloom::otf2 {
namespace {

constexpr std::array<const char*, 9> kFiles = {
    "traces.otf2",  "traces.def",   "traces.marker",         "traces/0.def",         "traces/0.evt",
    "traces/1.def", "traces/1.evt", "traces/4294967296.def", "traces/4294967296.evt"};

void require(bool sound) {
  if (!sound) std::abort();
}

// Aborts on what no source may replay.
class Checker : public RunSink {
 public:
  void begin(const Definitions& definitions) override {
    all_ = &definitions;
    for (const Location& location : definitions.locations) {
      require(location.group.value() < definitions.groups.size());
    }
  }
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<Part>(*this);
  }
  void finish() override {}
  std::uint64_t events() const { return events_; }

 private:
  class Part : public LocationSink {
   public:
    explicit Part(Checker& checker) : checker_(checker), all_(*checker.all_) {}
    void consume(std::span<const Event> events) override {
      for (const Event& event : events) check(event);
      checker_.events_ += events.size();
    }
    void finish() override { require(open_.empty()); }

   private:
    void check(const Event& event) {
      require(event.time >= last_);
      last_ = event.time;
      switch (event.kind) {
        case EventKind::kEnter:
          require(event.ref < all_.regions.size());
          open_.push_back(event.ref);
          break;
        case EventKind::kLeave:
          require(!open_.empty() && open_.back() == event.ref);
          open_.pop_back();
          break;
        case EventKind::kParameterString:
          require(event.value < all_.strings.size());
          [[fallthrough]];
        case EventKind::kParameterInt:
        case EventKind::kParameterUint:
        case EventKind::kParameterFloat: require(event.ref < all_.parameters.size()); break;
        case EventKind::kMetric: require(event.ref < all_.metrics.size()); break;
        case EventKind::kProgramBegin: require(event.ref < all_.groups.size()); break;
        default: break;
      }
    }

    Checker& checker_;
    const Definitions& all_;
    Timestamp last_{};
    std::vector<std::uint32_t> open_;
  };

  const Definitions* all_ = nullptr;
  std::uint64_t events_ = 0;
};

class Scratch {
 public:
  Scratch() {
    const char* const memory = "/dev/shm";
    const std::filesystem::path parent = std::filesystem::is_directory(memory)
                                             ? std::filesystem::path(memory)
                                             : std::filesystem::temp_directory_path();
    path_ = (parent / "timeloom-fuzz-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
    std::filesystem::create_directory(path() / "traces");
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path path() const { return path_; }

 private:
  std::string path_;
};

void write_archive(std::string_view input, const std::filesystem::path& directory) {
  for (const char* const name : kFiles) {
    std::string_view content;
    if (input.size() >= 2) {
      const auto low = static_cast<unsigned char>(input[0]);
      const auto high = static_cast<unsigned char>(input[1]);
      content = input.substr(2, std::size_t{low} | std::size_t{high} << 8);
      input.remove_prefix(2 + content.size());
    }
    std::filesystem::remove(directory / name);
    if (!content.empty()) {
      std::ofstream(directory / name, std::ios::binary) << content;
    }
  }
}

std::uint64_t events_of(RunSource& source) {
  Checker checker;
  const std::array<RunSink*, 1> sinks{&checker};
  source.replay(sinks, 1);
  return checker.events();
}

void read(const std::filesystem::path& anchor) {
  const auto source = open(anchor);
  require(events_of(*source) == events_of(*source));  // a reader may be asked twice
  static_cast<void>(unsound_files(anchor, source->definitions().locations));
}

}  // namespace
}  // namespace timeloom::otf2

// The library keeps what it has allocated for an archive that it refuses then.
// NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:otf2_archive_open\nleak:OTF2_UTILS_CStr_dup\nleak:otf2_file_substrate_\n";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  static const otf2::Scratch scratch;
  otf2::write_archive({reinterpret_cast<const char*>(data), size}, scratch.path());
  try {
    otf2::read(scratch.path() / "traces.otf2");
  } catch (const Error& error) {
    const std::string_view line = error.what();
    if (line.empty() || line.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
