// The file `samples` of a spool, mapped for the handlers of signals that fill it.
//
// put() may be called by any thread, in a handler of a signal: it takes no lock, allocates nothing
// and makes no system call. Space is added ahead by grow(), which one thread at a time calls. The
// file never exceeds kMostSampleBytes. Functions throw nothing; errors are errno values.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "core/known_directory.hpp"
#include "os/file.hpp"
#include "spool/samples/sample_format.hpp"

namespace timeloom::spool {

inline constexpr std::uint64_t kMostSampleBytes = std::uint64_t{256} << 20;

struct Sample {
  std::uint64_t ticks = 0;
  std::uint64_t address = 0;
  std::uint64_t weight_ns = 0;
  std::uint32_t region = kNoSampledRegion;
  std::uint32_t line = 0;  // of the source, in the innermost frame of the region; 0: not known
  // The call path in the profile of the thread; 0: it has no profile, or the path is not known.
  std::uint32_t place = 0;
};

// The recorded functions that were open, as ids of regions, the outermost first.
struct SampledStack {
  std::span<const std::uint32_t> frames;  // at most kMostSampledFrames
  std::size_t shared = 0;                 // the number of first frames that are equal to the stack
                                          // before, in the same place
};

class SampleWriter {
 public:
  // The place of a thread in the file, from its first sample on.
  struct Place {
    SampleRecord* next = nullptr;
    SampleRecord* end = nullptr;
    std::size_t depth = 0;  // of the last stack there
  };

  // Creates the file in the spool, with its first space; nullptr on failure, with an errno value.
  static std::unique_ptr<SampleWriter> create(const KnownDirectory& spool, std::uint64_t period_ns,
                                              int* error) noexcept;

  // Adds a sample of the thread whose location this is; false: there is no space, and it is counted
  // as lost. All samples of a place have a stack, or none has one.
  bool put(Place& place, std::uint32_t location, const Sample& sample,
           const SampledStack* stack = nullptr) noexcept;
  // Adds space, more than was used since the call before.
  void grow() noexcept;

  void count_thread(SampleClock clock) noexcept;
  // A thread that was counted has a timer in place of its event from here on.
  void count_timer() noexcept;
  void add_unsampled(std::uint64_t ns) noexcept;
  // A sample lacks the outermost functions of its stack.
  void count_cut() noexcept;
  // The reason why a thread could not be sampled; the first one is kept.
  void note_failure(int error) noexcept;
  // Whether there is little space left until grow() is called next: stacks should be short.
  bool is_short() const noexcept;
  std::uint64_t lost() const noexcept { return header().lost; }

 private:
  static constexpr std::size_t kPieceSize = 1 << 20;
  static constexpr std::size_t kChunksInPiece = kPieceSize / kSampleChunkSize;
  static constexpr std::size_t kMostPieces = kMostSampleBytes / kPieceSize;

  explicit SampleWriter(os::File file) : file_(std::move(file)) {}
  int write_head(std::uint64_t period_ns) noexcept;
  int add_piece() noexcept;
  bool take_chunk(Place& place, std::uint32_t location) noexcept;
  SampleHeader& header() const noexcept { return *reinterpret_cast<SampleHeader*>(head_.data()); }

  os::File file_;
  os::Mapping head_;
  std::array<os::Mapping, kMostPieces> pieces_;
  std::atomic<std::size_t> chunks_ = 0;      // that have space
  std::atomic<std::size_t> next_chunk_ = 0;  // may be beyond them
  std::size_t seen_ = 0;                     // next_chunk_ at the last growth
};

}  // namespace timeloom::spool
