// Any bytes as a packed trace, as a stranger may hand one over: read, or refused with an Error of
// one line. The events that are read keep the promises that every sink relies on.
//
// The first byte of an input chooses what the others are:
//
//   'b'  a block: two bytes with the number of its events, one byte with the time of the first,
//   body
//
//   'd'  definitions, an end, or the meaning of a part, as they are unpacked
//
//   'f'  a file; the checks of its sections are made right first, so that changed ones are read
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "formats/packed/block_unpacker.hpp"
#include "formats/packed/host_file.hpp"
#include "formats/packed/packed.hpp"
#include "formats/packed/packed_definitions.hpp"
#include "formats/packed/packed_file.hpp"
#include "formats/packed/part.hpp"

namespace timeloom::packed {
namespace {

void require(bool sound) {
  if (!sound) std::abort();
}

// Aborts on what no source may replay.
void check(std::span<const Event> events, const Definitions& all, std::vector<std::uint32_t>& open,
           Timestamp& last) {
  for (const Event& event : events) {
    require(event.time >= last);
    last = event.time;
    switch (event.kind) {
      case EventKind::kEnter:
        require(event.ref < all.regions.size());
        open.push_back(event.ref);
        break;
      case EventKind::kLeave:
        require(!open.empty() && open.back() == event.ref);
        open.pop_back();
        break;
      case EventKind::kParameterString: require(event.value < all.strings.size()); [[fallthrough]];
      case EventKind::kParameterInt:
      case EventKind::kParameterUint:
      case EventKind::kParameterFloat: require(event.ref < all.parameters.size()); break;
      case EventKind::kMetric: require(event.ref < all.metrics.size()); break;
      case EventKind::kProgramBegin: require(event.ref < all.groups.size()); break;
      case EventKind::kIoRead: require(event.ref < all.io_handles.size()); break;
      case EventKind::kMpiSend: require(event.ref < all.communicators.size()); break;
      case EventKind::kRmaGet:
      case EventKind::kRmaPut:
      case EventKind::kRmaDone: require(event.ref < all.contexts.size()); break;
      default: require(event.kind <= kLastEventKind); break;
    }
  }
}

class Checker : public RunSink {
 public:
  void begin(const Definitions& definitions) override { all_ = &definitions; }
  std::unique_ptr<LocationSink> open_location(const Location&) override {
    return std::make_unique<Part>(*all_);
  }
  void finish() override {}

 private:
  class Part : public LocationSink {
   public:
    explicit Part(const Definitions& all) : all_(all) {}
    void consume(std::span<const Event> events) override { check(events, all_, open_, last_); }
    void finish() override { require(open_.empty()); }

   private:
    const Definitions& all_;
    Timestamp last_{};
    std::vector<std::uint32_t> open_;
  };
  const Definitions* all_ = nullptr;
};

Definitions some_definitions() {
  Definitions all;
  all.strings.resize(3);
  all.regions.resize(300);
  all.groups.resize(1);
  all.parameters.resize(2);
  all.metrics.resize(2);
  all.communicators.resize(1);
  all.io_handles.resize(2);
  return all;
}

void read_block(ByteSpan input) {
  static const Definitions kDefinitions = some_definitions();
  if (input.size() < 3) return;
  BlockUnpacker unpacker(kDefinitions);
  const auto events = static_cast<std::uint32_t>(input[0] | input[1] << 8);
  if (!unpacker.unpack({events, input[2]}, input.subspan(3))) return;
  std::vector<std::uint32_t> open = unpacker.open();
  Timestamp last{};
  require(unpacker.events().size() == events);
  check(unpacker.events(), kDefinitions, open, last);
  require(open == unpacker.open_at_end());
}

void read_texts(ByteSpan input) {
  Definitions definitions;
  if (read_definitions(input, definitions)) {
    Definitions again;
    require(read_definitions(bytes_of(definitions), again));
  }
  RunEnd end;
  if (read_end(input, end)) require(read_end(bytes_of(end), end));
  PartMeaning meaning;
  if (read_meaning(input, meaning)) require(read_meaning(bytes_of(meaning), meaning));
}

template <typename Words>
std::uint64_t check_of(const std::uint8_t* bytes, Words words) {
  std::vector<std::uint64_t> copy(words);
  if (words != 0) std::memcpy(copy.data(), bytes, words * sizeof(std::uint64_t));
  return words_check(copy);
}

void mend_checks(Bytes& file) {
  for (std::size_t at = 0; at + sizeof(SectionHead) <= file.size();) {
    SectionHead head;
    std::memcpy(&head, &file[at], sizeof head);
    const std::size_t left = file.size() - at - sizeof head;
    const bool fits = head.size <= left && (head.size + 7) / 8 * 8 <= left;
    const std::size_t size = fits ? (head.size + 7) / 8 * 8 : 0;
    if (fits) head.body_check = check_of(file.data() + at + sizeof head, size / 8);
    std::memcpy(&file[at], &head, sizeof head);
    head.head_check = check_of(&file[at], sizeof head / 8 - 1);
    std::memcpy(&file[at], &head, sizeof head);
    at += sizeof head + size;
  }
}

class ScratchFile {
 public:
  ScratchFile() {
    const char* const memory = "/dev/shm";
    const std::filesystem::path parent = std::filesystem::is_directory(memory)
                                             ? std::filesystem::path(memory)
                                             : std::filesystem::temp_directory_path();
    directory_ = (parent / "timeloom-fuzz-XXXXXX").string();
    if (::mkdtemp(directory_.data()) == nullptr) std::abort();
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::filesystem::path path() const { return std::filesystem::path(directory_) / "run.packed"; }

 private:
  std::string directory_;
};

// As the file of a host.
void read_ranks(const std::filesystem::path& path) {
  int error = 0;
  const os::File file = os::File::open_read(path.string(), &error);
  for (const RankPart& part : find_ranks(file)) {
    static_cast<void>(about_rank(file, part));
    static_cast<void>(is_sound(os::File::open_read(path.string(), &error), part));
  }
}

void read_file(ByteSpan input) {
  static const ScratchFile scratch;
  Bytes bytes(input.begin(), input.end());
  mend_checks(bytes);
  std::ofstream(scratch.path(), std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  read_ranks(scratch.path());
  const auto source = open(scratch.path());
  for (int i = 0; i < 2; ++i) {  // a reader may be asked twice
    Checker checker;
    const std::array<RunSink*, 1> sinks{&checker};
    source->replay(sinks, 1);
  }
  static_cast<void>(unsound_parts(scratch.path()));
}

}  // namespace
}  // namespace timeloom::packed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom;
  if (size == 0) return 0;
  const packed::ByteSpan rest(data + 1, size - 1);
  try {
    if (data[0] == 'b') packed::read_block(rest);
    if (data[0] == 'd') packed::read_texts(rest);
    if (data[0] == 'f') packed::read_file(rest);
  } catch (const Error& error) {
    const std::string_view line = error.what();
    if (line.empty() || line.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
