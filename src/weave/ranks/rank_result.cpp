#include "weave/ranks/rank_result.hpp"

#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/life.hpp"
#include "os/directory.hpp"

namespace timeloom::weave {
namespace {

constexpr char kResultName[] = "result";
constexpr std::uint64_t kMagic = 0x31564e4f434c5401;        // "\x01TLCONV1"
constexpr std::uint64_t kLargest = std::uint64_t{1} << 28;  // half a million call paths are 30 MB

// Structures are written as they lie in memory.
constexpr std::uint64_t kLayout = [] {
  std::uint64_t hash = 0;
  for (const std::size_t size :
       {sizeof(RankResult), sizeof(RankResult::OfLocation), sizeof(RankResult::Counts),
        sizeof(profile::AggregatedLocation), sizeof(profile::AggregatedNode),
        sizeof(profile::AggregatedLocation::Parameter),
        sizeof(profile::AggregatedLocation::MetricValues),
        sizeof(profile::AggregatedLocation::Milestone), sizeof(otf2::EventReferences),
        sizeof(otf2::EventReferences::MetricClass)}) {
    hash = mix(hash, size);
  }
  return hash;
}();

struct Head {
  std::uint64_t magic = kMagic;
  std::uint64_t layout = kLayout;
  std::uint64_t size = 0;   // of the bytes that follow
  std::uint64_t check = 0;  // words_check() of these bytes
  char version[32] = TIMELOOM_VERSION;
};
static_assert(sizeof(TIMELOOM_VERSION) <= sizeof Head::version);

using Words = std::vector<std::uint64_t>;

std::size_t words_of(std::size_t bytes) { return (bytes + 7) / 8; }

// Reading and writing visit the same fields in the same order: see pass(). Each field starts at a
// whole word.
class Output {
 public:
  template <typename T>
  void value(const T& one) {
    put(&one, 1);
  }
  void flag(bool one) { value(std::uint64_t{one}); }
  template <typename T>
  void values(const std::vector<T>& many) {
    value(std::uint64_t{many.size()});
    put(many.data(), many.size());
  }
  void texts(const std::vector<std::string>& many) {
    each(many, [](Output& self, const std::string& text) {
      self.values(std::vector<char>(text.begin(), text.end()));
    });
  }
  template <typename T, typename Function>
  void each(const std::vector<T>& many, Function function) {
    value(std::uint64_t{many.size()});
    for (const T& one : many) function(*this, one);
  }
  const Words& words() const { return words_; }

 private:
  template <typename T>
  void put(const T* data, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return;
    const std::size_t at = words_.size(), bytes = count * sizeof(T);
    words_.resize(at + words_of(bytes));
    std::memcpy(&words_[at], data, bytes);
  }

  Words words_;
};

class Input {
 public:
  explicit Input(const Words& words) : rest_(words) {}

  template <typename T>
  void value(T& one) {
    take(&one, 1);
  }
  void flag(bool& one) {
    std::uint64_t word = 0;
    value(word);
    one = word != 0;
  }
  template <typename T>
  void values(std::vector<T>& many) {
    many.resize(count(sizeof(T)));
    take(many.data(), many.size());
  }
  void texts(std::vector<std::string>& many) {
    std::vector<char> text;
    each(many, [&text](Input& self, std::string& one) {
      self.values(text);
      one.assign(text.begin(), text.end());
    });
  }
  // Grows while elements are read: an element may need more bytes in memory than in the file.
  template <typename T, typename Function>
  void each(std::vector<T>& many, Function function) {
    const std::size_t number = count(sizeof(std::uint64_t));
    for (std::size_t i = 0; i < number; ++i) function(*this, many.emplace_back());
  }
  bool at_end() const { return rest_.empty(); }

 private:
  // A count of elements that have at least `least` bytes each: limited by the bytes that are left.
  std::size_t count(std::size_t least) {
    std::uint64_t number = 0;
    value(number);
    if (number > rest_.size_bytes() / least) throw Error("it announces more than it holds");
    return number;
  }
  template <typename T>
  void take(T* data, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t words = words_of(count * sizeof(T));
    if (words > rest_.size()) throw Error("it is cut off");
    if (count != 0) std::memcpy(static_cast<void*>(data), rest_.data(), count * sizeof(T));
    rest_ = rest_.subspan(words);
  }

  std::span<const std::uint64_t> rest_;
};

template <typename Stream, typename Aggregated>
void pass_aggregated(Stream& stream, Aggregated& aggregated) {
  stream.values(aggregated.nodes);
  stream.values(aggregated.parameters);
  stream.values(aggregated.metrics);
  stream.values(aggregated.samples);
  stream.values(aggregated.milestones);
  stream.values(aggregated.parts);
  stream.value(aggregated.deepest);
  stream.value(aggregated.events);
  stream.value(aggregated.first);
  stream.value(aggregated.last);
}

template <typename Stream, typename Whole>
void pass(Stream& stream, Whole& whole) {
  stream.value(whole.definitions);
  stream.flag(whole.with_trace);
  stream.flag(whole.with_profile);
  stream.flag(whole.is_packed);
  stream.value(whole.counts);
  stream.value(whole.begin);
  stream.value(whole.end);
  stream.value(whole.messages.sum);
  stream.flag(whole.messages.has_gaps);
  stream.values(whole.metric_totals);
  stream.texts(whole.metric_names);
  for (auto* ids : {&whole.ids.regions, &whole.ids.strings, &whole.ids.parameters,
                    &whole.ids.metrics, &whole.ids.communicators, &whole.ids.io_handles}) {
    stream.values(*ids);
  }
  stream.each(whole.locations, [](auto& same, auto& location) {
    same.value(location.index);
    same.value(location.there);
    same.value(location.count);
    same.value(location.bytes);
    same.value(location.check);
    same.value(location.packed);
    pass_aggregated(same, location.aggregated);
  });
  stream.value(whole.references.first_communicator);
  stream.value(whole.references.offset_attribute);
  stream.value(whole.references.memory_attribute);
  stream.values(whole.references.metrics);
  stream.values(whole.references.string_references);
  stream.texts(whole.references.strings);
  stream.texts(whole.references.io_files);
}

Head head_of(const Words& words) {
  Head head;
  head.size = words.size() * sizeof words[0];
  head.check = words_check(words);
  return head;
}

// Empty: the bytes are damaged, or of another version.
Words words_in(std::span<const std::byte> bytes) {
  Head head;
  if (bytes.size() < sizeof head || bytes.size() % 8 != 0) return {};
  std::memcpy(&head, bytes.data(), sizeof head);
  Words words((bytes.size() - sizeof head) / 8);
  if (!words.empty()) std::memcpy(words.data(), bytes.data() + sizeof head, words.size() * 8);
  const Head expected = head_of(words);
  return std::memcmp(&head, &expected, sizeof head) == 0 ? std::move(words) : Words();
}

// The content of the file; nothing if it is missing or cannot be read.
std::vector<std::byte> bytes_of_file(const spool::SpoolDirectory& spool) {
  int error = 0;
  const os::File file = spool.open(std::string(kConvertedName) + "/" + kResultName, &error);
  const std::uint64_t size = file.is_open() ? file.size(&error) : 0;
  if (error != 0 || size < sizeof(Head) || size > kLargest) return {};
  std::vector<std::byte> bytes(size);
  bytes.resize(file.read_at(0, bytes, &error));
  return error == 0 ? std::move(bytes) : std::vector<std::byte>();
}

}  // namespace

std::vector<std::uint8_t> bytes_of(const RankResult& rank_result) {
  Output output;
  pass(output, rank_result);
  const Head head = head_of(output.words());
  std::vector<std::uint8_t> bytes(sizeof head + head.size);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, output.words().data(), head.size);
  return bytes;
}

void write_rank_result(const RankResult& rank_result, const std::filesystem::path& directory) {
  const std::vector<std::uint8_t> bytes = bytes_of(rank_result);
  const std::string name = std::string(kResultName) + ".new";
  int error = 0;
  const os::Directory to = os::Directory::open(directory.string(), &error);
  os::File file = error == 0 ? to.create_file(name, &error) : os::File();
  if (error == 0) error = file.write_at(0, std::as_bytes(std::span(bytes)));
  if (error == 0) error = to.rename(name, to, kResultName);
  if (error != 0) {
    throw Error("cannot write to " + directory.string() + ": " + std::strerror(error) + " [TL220]");
  }
}

std::optional<RankResult> rank_result_in(std::span<const std::uint8_t> bytes,
                                         const spool::SpoolDirectory& spool) try {
  const Words words = words_in(std::as_bytes(bytes));
  if (words.empty()) return std::nullopt;
  Input input(words);
  RankResult rank_result;
  pass(input, rank_result);
  const bool sound = input.at_end() && rank_result.definitions == size_of_definitions(spool);
  return sound ? std::optional(std::move(rank_result)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

std::optional<RankResult> read_rank_result(const spool::SpoolDirectory& spool) try {
  const std::vector<std::byte> bytes = bytes_of_file(spool);
  return rank_result_in({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, spool);
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

std::string event_file(LocationId there) {
  return std::string(kConvertedName) + "/events/" + std::to_string(there.value()) + ".evt";
}

std::optional<std::uint64_t> check_of(const os::File& file) {
  Words part(1 << 17);
  std::uint64_t hash = 0;
  for (std::uint64_t at = 0;;) {
    int error = 0;
    const std::size_t size = file.read_at(at, std::as_writable_bytes(std::span(part)), &error);
    if (error != 0) return std::nullopt;
    if (size == 0) return hash;
    const std::size_t words = words_of(size);
    std::memset(reinterpret_cast<std::byte*>(part.data()) + size, 0, words * 8 - size);
    hash = mix(hash, words_check(std::span(part).first(words)));
    at += size;
  }
}

std::uint64_t size_of_definitions(const spool::SpoolDirectory& spool) {
  int error = 0;
  const os::File defs = spool.open(kDefsName, &error);
  return defs.is_open() ? defs.size(&error) : 0;
}

}  // namespace timeloom::weave
