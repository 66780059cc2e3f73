#include "spool/writer.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

#include "core/error.hpp"
#include "core/event_word.hpp"
#include "core/heartbeat.hpp"
#include "os/process.hpp"

namespace timeloom::spool {
namespace {

[[noreturn]] void cannot(const std::string& what, const std::string& path, int error,
                         const char* remedy = "; choose another directory with --output") {
  throw Error("cannot " + what + " " + path + ": " + reason_of(error) + remedy + " [TL241]");
}

template <typename T>
std::span<const std::byte> bytes_of(const T& value) noexcept {
  return {reinterpret_cast<const std::byte*>(&value), sizeof value};
}

// Not 0.
std::uint64_t random_number() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number || number == 0) {
    number = mix(mix(os::now(), static_cast<std::uint64_t>(::getpid())), 1) | 1;
  }
  return number;
}

}  // namespace

Writer::Writer(KnownDirectory spools, KnownDirectory directory, const WriterOptions& options)
    : spools_(std::move(spools)),
      directory_(std::move(directory)),
      options_(options),
      key_(random_number()),
      log_file_size_(
          log_file_size(options.size_limit, static_cast<std::uint32_t>(options.segment_size))),
      early_packing_(options.pack_early, options.size_limit.bytes != 0) {}

std::unique_ptr<Writer> Writer::create(const std::filesystem::path& path,
                                       const WriterOptions& options, os::DirectoryId above) {
  const auto page = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  if (options.segment_size < kMinSegmentSize || options.segment_size > kMaxSegmentSize ||
      options.segment_size % page != 0) {
    throw Error("a spool cannot have segments of " + std::to_string(options.segment_size) +
                " bytes; take a multiple of " + std::to_string(page) + " up to " +
                std::to_string(kMaxSegmentSize) + " [TL240]");
  }
  int error = 0;
  KnownDirectory spools(path.parent_path(), above);
  KnownDirectory directory = spools.make_new(path.filename(), &error);
  if (error != 0) cannot("create", path, error);
  std::unique_ptr<Writer> writer(new Writer(std::move(spools), std::move(directory), options));
  try {
    writer->open_files();
    writer->write_heads();
    if (writer->packs_early() && options.size_limit.bytes != 0) {
      writer->log_packing_.watch_filters();
    }
    WaitOptions waits = options.waits;
    waits.pack = writer->packs_early();
    writer->clock_watch_.waits().begin(writer->directory_, waits);
    error = options.drain_at_once ? writer->start_drain() : 0;
    if (error != 0) cannot("start a thread for", path, error);
  } catch (...) {
    writer->remove_files();
    throw;
  }
  return writer;
}

void Writer::open_files() {
  const auto create = [this](const char* name) {
    int error = 0;
    os::File file = directory_.create_file(name, &error);
    if (error != 0) cannot("create", directory_.path() + "/" + name, error);
    return file;
  };
  const int error = write_life(directory_, &life_);  // first, so that it is there with definitions
  if (error != 0) cannot("write", directory_.path() + "/" + kLifeName, error);
  life_.close();
  defs_ = create(kDefsName);
  defs_.mark_in_use();  // without locks on the file system nobody can tell whether we live
  log_ = create(kLogName);
  ring_ = create(kRingName);
}

void Writer::write_heads() {
  DefsHeader header{kDefsMagic, kVersion, static_cast<std::uint16_t>(os::clock_source()), 0};
  header.check = checksum(bytes_of(header).data(), offsetof(DefsHeader, check));
  int error = defs_.write_at(0, bytes_of(header));
  if (error != 0) cannot("write to", directory_.path() + "/" + kDefsName, error);
  defs_end_ = sizeof header;
  define_key();
  if (options_.size_limit.bytes != 0) define_limit();

  error = ring_.allocate(0, kRingHeaderSize);
  if (error == 0) ring_header_ = os::Mapping::map(ring_, 0, kRingHeaderSize, &error);
  if (error != 0) cannot("map", directory_.path() + "/" + kRingName, error);
  auto* ring = new (ring_header_.data()) RingHeader{};
  clock_watch_.use(ring_header_.data());
  ring->magic = kRingMagic;
  ring->version = kVersion;
  ring->segment_size = options_.segment_size;
  ring->check = checksum(ring_header_.data(), offsetof(RingHeader, segment_count));
  // A process that starts when the run has no space left still counts its lost events.
  if (!keeps_newest() && !space_for(options_.ring_size)) return stop_at_limit();
  const std::lock_guard lock(mutex_);
  error = add_block(options_.ring_size, true);
  constexpr char kSmaller[] =
      "; choose a smaller buffer with --buffer-size, or another directory with --output";
  if (error != 0) {
    cannot("allocate " + std::to_string(options_.ring_size >> 10) + " KiB for the buffer of",
           directory_.path(), error, kSmaller);
  }
}

// After a failed start: nothing was recorded, and the directory must not be taken for a spool.
void Writer::remove_files() noexcept {
  closed_ = true;
  for (const char* name : {kDefsName, kLogName, kRingName, kLifeName, kWaitFile})
    directory_.remove_file(name);
  int error = 0;
  const os::Directory spools = spools_.open(&error);
  if (error == 0) spools.remove_directory(name_of_spool());
}

std::string Writer::name_of_spool() const {
  return std::filesystem::path(directory_.path()).filename();
}

Writer::~Writer() { close(); }

RingHeader& Writer::ring_header() const noexcept {
  return *reinterpret_cast<RingHeader*>(ring_header_.data());
}

void Writer::fail(int error) noexcept {
  int none = 0;
  error_.compare_exchange_strong(none, error, std::memory_order_relaxed);
}

// With log_mutex_ held. An append that fails halfway is undone, so that the log always ends
// with a whole segment, unless the process is killed.
bool Writer::append_to_log(SegmentHeader& header, const std::uint64_t* words) noexcept {
  const std::size_t size = sizeof header + header.size;
  if (error() != 0 || !make_room_in_log(size)) return false;
  const std::uint64_t events = keeps_newest() ? count_events(records_of(header, words)) : 0;
  header.events = with_tag(events, tag_of(key_));
  seal(header, words);
  has_raw_ = packs_early();
  return append_to_log({reinterpret_cast<const std::byte*>(&header), size});
}

bool Writer::append_to_log(std::span<const std::byte> bytes) noexcept {
  const int error = log_.write_at(log_end_, bytes);
  if (error != 0) {
    log_.truncate(log_end_);
    fail(error);
    return false;
  }
  log_end_ += bytes.size();
  written_ += bytes.size();
  return true;
}

// With log_mutex_ held. A log without a limit is one file that grows.
bool Writer::make_room_in_log(std::uint64_t bytes) noexcept {
  if (options_.size_limit.bytes == 0 || closing_) return true;
  const bool begun = log_number_ > 0 || log_end_ > 0;
  if (begun && log_end_ + bytes <= log_file_size_) return true;
  if (awaits_packing()) return false;
  const std::uint64_t copy = packs_early() ? log_file_size_ / 2 : 0;  // of LogPacking, at most
  const std::uint64_t bytes_more = log_file_size_ + copy + ring_reserve();
  const bool gives_up = gives_up_waiting_.exchange(false);
  const bool may_drop = !log_packing_.has_work() || gives_up;
  if (space_for(bytes_more, may_drop)) return !begun || begin_log_file();
  awaits_packing_.store(true, std::memory_order_relaxed);
  if (awaits_packing()) return false;
  // Nothing is left to pack since a moment ago.
  if (!keeps_newest()) return stop_at_limit(), false;
  return space_for(bytes_more, true) && (!begun || begin_log_file());
}

// By what the ring may still grow while threads wait for packing.
std::uint64_t Writer::ring_reserve() const noexcept {
  if (!packs_early() || options_.size_limit.bytes == 0) return 0;
  const std::uint64_t count = ring_header().segment_count.load(std::memory_order_relaxed);
  const std::uint64_t most = options_.ring_size + growth_in_limit();
  return most - std::min(most, count * options_.segment_size);
}

// `may_drop`: older events may go for it, if the run keeps the newest ones.
bool Writer::space_for(std::uint64_t bytes, bool may_drop) noexcept {
  SizeLimit limit = options_.size_limit;
  if (limit.bytes == 0) return true;
  if (!may_drop && limit.at_limit == AtLimit::kKeepNewest) limit.at_limit = AtLimit::kStop;
  return take_space(limit, spools_, name_of_spool(), bytes, log_file_size_,
                    ring_header().dropped_events);
}

bool Writer::begin_log_file() noexcept {
  int error = ENOMEM;
  try {
    os::File next = directory_.create_file(log_name(log_number_ + 1), &error);
    if (error == 0) log_ = std::move(next);
  } catch (const std::bad_alloc&) {
  }
  if (error != 0) {
    fail(error);
    return false;
  }
  awaits_packing_.store(false, std::memory_order_relaxed);  // there was space for this file
  if (std::exchange(has_raw_, false)) log_packing_.add(log_number_);
  log_end_ = 0;
  ++log_number_;
  return true;
}

void Writer::stop_at_limit() noexcept {
  at_limit_.store(true, std::memory_order_relaxed);
  define_property("timeloom::size_limit", std::to_string(options_.size_limit.bytes));
}

Segment* Writer::take_full() noexcept {
  const std::lock_guard lock(mutex_);
  if (packing_ != nullptr) return std::exchange(packing_, nullptr);
  return full_.pop_front();
}

void Writer::put_back(Segment* segment) noexcept {
  const std::lock_guard lock(mutex_);
  full_.push_front(segment);
}

// Moves the oldest full segment to the log and empties it; nullptr: there is none, or it has
// to stay. Segments are taken under log_mutex_, so that a thread's segments are in order in
// the log. The order of the steps matters: at every instruction the records are in the log,
// or in the ring, or in both.
Segment* Writer::drain_one() noexcept {
  Segment* segment = nullptr;
  {
    const std::lock_guard lock(log_mutex_);
    segment = take_full();
    if (segment == nullptr) return nullptr;
    if (!append_to_log(segment->header(), segment->words())) return put_back(segment), nullptr;
  }
  return empty(segment);
}

// Of a segment in the log.
Segment* Writer::empty(Segment* segment) noexcept {
  SegmentHeader& header = segment->header();
  header.state.store(SegmentState::kDrained, std::memory_order_release);
  std::memset(segment->words(), 0, header.size);
  header.state.store(SegmentState::kFree, std::memory_order_release);
  return segment;
}

int Writer::start_drain() noexcept {
  return drain_thread_.start("timeloom-drain", [this] {
    drain_loop();
    cpu_ns_.fetch_add(os::thread_cpu_ns(), std::memory_order_relaxed);
  });
}

void Writer::stop_drain() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  drain_thread_.join();
  const std::lock_guard lock(mutex_);
  stopping_ = false;
}

void Writer::pause_drain() noexcept {
  if (!closed_) stop_drain();
}

void Writer::resume_drain() noexcept {
  const std::lock_guard lock(mutex_);
  // If it cannot start, threads that need a segment drain the full ones.
  if (!closed_ && !drain_thread_.running()) (void)start_drain();
}

void Writer::expect_last_thread() noexcept {
  {
    const std::lock_guard lock(mutex_);
    expects_last_thread_ = true;
  }
  work_.notify_one();
}

void Writer::drain_loop() noexcept {
  using Clock = std::chrono::steady_clock;
  // The clocks are compared from time to time, so that the times of a killed process are as
  // exact as others; soon at first, then once a second.
  constexpr std::chrono::milliseconds kLongestPause{1000}, kShortPause{20};
  std::chrono::milliseconds pause{10};
  begin_heartbeats(life_);
  auto last_heartbeat = Clock::now(), last_sync = last_heartbeat;
  bool expects = false;
  std::uint64_t told = 0;
  WaitWatch& waits = clock_watch_.waits();
  std::chrono::microseconds until_look = waits.on() ? std::chrono::microseconds(0) : pause;
  auto next_look = Clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    const std::uint64_t cpu = os::thread_cpu_ns();
    drain_cpu_ns_.fetch_add(cpu - std::exchange(told, cpu), std::memory_order_relaxed);
    const std::chrono::microseconds longest = expects ? kShortPause : pause;
    work_.wait_for(lock, waits.on() ? std::min(until_look, longest) : longest, [&] {
      const bool has_work = !full_.empty() || log_packing_.has_work();
      return stopping_ || expects_last_thread_ != expects || (has_work && !stuck());
    });
    expects = expects_last_thread_;
    const auto now = Clock::now();
    if (now - last_heartbeat >= kHeartbeatPeriod) {
      last_heartbeat = now;
      lock.unlock();
      send_heartbeat(life_);
      lock.lock();
    }
    if (now - last_sync >= pause) {
      last_sync = now;
      pause = std::min(pause * 10, kLongestPause);
      lock.unlock();
      define_clock_sync(os::sync_clocks());
      if (auto* const function = on_comparison_.load()) function();
      clock_watch_.look();  // after it, so that no thread has a time that nobody has seen
      waits.flush();
      lock.lock();
    }
    if (waits.on() && now >= next_look) {
      lock.unlock();
      until_look = waits.look();
      next_look = Clock::now() + until_look;
      lock.lock();
    }
    if (expects) {
      lock.unlock();
      // The C library calls exit() when this function returns, and nobody may wait for it there.
      if (os::is_last_thread()) return drain_thread_.detach();
      lock.lock();
    }
    const bool packs_log = has_time() && !stuck() && !stopping_ && log_packing_.has_work();
    if (!packs_log && (has_time() || stuck())) {
      if (stopping_) return;  // segments that could not be drained stay in the ring
      continue;
    }
    lock.unlock();
    Segment* const emptied = packs_log ? (pack_log(), nullptr) : drain_packed();
    lock.lock();
    if (emptied != nullptr) set_free(emptied);
  }
}

void Writer::note(const CpuTimes& times) noexcept {
  ring_header().process_cpu_ns.store(times.process, std::memory_order_relaxed);
  ring_header().other_cpu_ns.store(times.other, std::memory_order_relaxed);
}

void Writer::count_lost(std::uint64_t events) noexcept {
  ring_header().lost_events.fetch_add(events, std::memory_order_relaxed);
}

std::uint64_t Writer::lost() const noexcept {
  return ring_header().lost_events.load(std::memory_order_relaxed);
}

std::uint64_t Writer::dropped() const noexcept {
  return ring_header().dropped_events.load(std::memory_order_relaxed);
}

// Whether someone has removed our files; a weave never does while they are in use. Their
// path does not matter: they may have been moved, or our root directory changed.
bool Writer::removed() const noexcept { return defs_.removed(); }

void Writer::close(Ending ending) noexcept {
  if (closed_) return;
  closed_ = true;
  stop_drain();
  clock_watch_.waits().flush();
  log_packing_.stop();
  closing_ = true;
  while (drain_one() != nullptr) {  // segments retired while there was no drain
  }
  // Records that could not go to the log since the disk was full.
  while (const Segment* segment = take_full()) seal(segment->header(), segment->words());
  if (removed()) fail(ENOENT);
  define_end(ending);
  if (error() == 0) directory_.remove_file(kRingName);
  directory_.remove_file(kLifeName);
  defs_.close();  // no longer in use
}

void Writer::abandon() noexcept {
  closed_ = true;
  drain_thread_.abandon();
  clock_watch_.waits().abandon();
  log_packing_.abandon();
  for (os::File* file : {&life_, &defs_, &log_, &ring_})
    file->close();  // or we would keep it in use
}

}  // namespace timeloom::spool
