// Answers the questions of the viewer's page, which are sent as bytes: docs/formats/view-http.md.
//
// Any thread may ask. The limits on questions bound the cost of an answer. The answer reports
// errors in a question; only std::bad_alloc is thrown.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions.hpp"
#include "exchange/samples/sampled_run.hpp"
#include "view/answers/auxiliary_events.hpp"
#include "view/answers/calls.hpp"
#include "view/answers/marks_file.hpp"
#include "view/answers/samples/timed_samples.hpp"
#include "view/answers/source_files.hpp"
#include "view/answers/viewed_messages.hpp"
#include "view/index/index.hpp"
#include "view/index/index_writer.hpp"

namespace timeloom::view {

// The content of the viewer: a run, and its index as soon as there is one. Any thread.
class Content {
 public:
  // `describe` returns the description of the run as JSON, using the index if there is one. Both
  // outlive this object.
  Content(const Definitions& definitions, std::function<std::string(const Index*)> describe)
      : definitions_(&definitions), describe_(std::move(describe)) {}

  // Sets the files that source lines may come from; it has no other effect. REQUIRES: no question
  // has been asked yet.
  void set_sources(std::shared_ptr<const SourceFiles> sources) { sources_ = std::move(sources); }
  const SourceFiles* sources() const noexcept { return sources_.get(); }
  // Sets the times of source lines; it has no other effect. REQUIRES: as above.
  using LineTimes = std::function<std::vector<LineTime>(const Region&)>;
  void set_line_times(LineTimes times) { line_times_ = std::move(times); }
  std::vector<LineTime> line_times(const Region& region) const {
    return line_times_ ? line_times_(region) : std::vector<LineTime>();
  }
  // Sets how the locks of the run are read; it has no other effect. REQUIRES: as above.
  using ReadLocks = std::function<LockFacts()>;
  void set_locks(ReadLocks read) { read_locks_ = std::move(read); }
  // Read at the first call.
  std::shared_ptr<const LockFacts> locks() const {
    const std::lock_guard lock(auxiliary_mutex_);
    if (!locks_)
      locks_ = std::make_shared<const LockFacts>(read_locks_ ? read_locks_() : LockFacts());
    return locks_;
  }
  // Sets the file of the memory by call path; empty: the run has none. REQUIRES: as above.
  void set_memory_file(std::filesystem::path file) { memory_file_ = std::move(file); }
  const std::filesystem::path& memory_file() const noexcept { return memory_file_; }
  // Sets how the samples of the run are read; it has no other effect. REQUIRES: as above.
  using ReadSamples = std::function<exchange::RunSamples()>;
  void set_samples(ReadSamples read) { read_samples_ = std::move(read); }
  // Read at the first call. Null: the run has none.
  std::shared_ptr<const exchange::RunSamples> samples() const {
    const std::lock_guard lock(auxiliary_mutex_);
    if (!samples_ && read_samples_) {
      samples_ = std::make_shared<const exchange::RunSamples>(read_samples_());
    }
    return samples_;
  }
  // The same, at their times.
  std::shared_ptr<const TimedSamples> timed_samples() const {
    const std::shared_ptr<const exchange::RunSamples> samples = this->samples();
    const std::lock_guard lock(auxiliary_mutex_);
    if (!timed_samples_ && samples) {
      timed_samples_ = std::make_shared<const TimedSamples>(*definitions_, samples);
    }
    return timed_samples_;
  }
  // Sets how the times of functions are estimated, by tracks and range; the result is JSON.
  // REQUIRES: as above.
  using Estimate = std::function<std::string(const Index&, const std::vector<std::uint32_t>&,
                                             std::uint64_t, std::uint64_t)>;
  void set_estimate(Estimate estimate) { estimate_ = std::move(estimate); }
  const Estimate& estimate() const noexcept { return estimate_; }
  // Sets the question whether the files are still the ones of the run, which any thread may ask.
  // REQUIRES: as above.
  void set_is_there(std::function<bool()> is_there) { is_there_ = std::move(is_there); }
  bool is_there() const { return !is_there_ || is_there_(); }
  // Sets the file of marks; null: marks are not kept. REQUIRES: as above.
  void set_marks(std::shared_ptr<const MarksFile> marks) { marks_ = std::move(marks); }
  const MarksFile* marks() const noexcept { return marks_.get(); }

  const Definitions& definitions() const noexcept { return *definitions_; }
  std::string describe() const { return describe_(index().get()); }
  Progress& progress() noexcept { return progress_; }
  const Progress& progress() const noexcept { return progress_; }

  // Null: not ready yet.
  std::shared_ptr<const Index> index() const {
    const std::lock_guard lock(mutex_);
    return index_;
  }
  // Read at the first call. REQUIRES: there is an index.
  std::shared_ptr<const AuxiliaryEvents> auxiliary_events() const {
    const std::shared_ptr<const Index> index = this->index();
    const std::lock_guard lock(auxiliary_mutex_);
    if (!auxiliary_events_)
      auxiliary_events_ = std::make_shared<const AuxiliaryEvents>(*index, *definitions_);
    return auxiliary_events_;
  }
  // The same.
  std::shared_ptr<const Messages> messages() const {
    const std::shared_ptr<const AuxiliaryEvents> events = auxiliary_events();
    const std::shared_ptr<const Index> index = this->index();
    const std::lock_guard lock(auxiliary_mutex_);
    if (!messages_) {
      messages_ = std::make_shared<const Messages>(*index, *definitions_, events->message_ends());
    }
    return messages_;
  }
  std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  void set_index(std::shared_ptr<const Index> index) {
    const std::lock_guard lock(mutex_);
    index_ = std::move(index);
  }
  // Called when the index is known to be sound, or when there will be none: ends all waiting.
  void settle() {
    const std::lock_guard lock(mutex_);
    settled_ = true;
    settled_now_.notify_all();
  }
  // Waits for settle() or fail(), and returns the index that exists then.
  std::shared_ptr<const Index> settled_index() const {
    std::unique_lock lock(mutex_);
    settled_now_.wait(lock, [this] { return settled_; });
    return index_;
  }
  // Called when there will be no index.
  void fail(std::string reason) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(reason);
  }

 private:
  const Definitions* definitions_;
  std::function<std::string(const Index*)> describe_;
  std::shared_ptr<const SourceFiles> sources_;
  LineTimes line_times_;
  ReadLocks read_locks_;
  std::filesystem::path memory_file_;
  ReadSamples read_samples_;
  Estimate estimate_;
  std::function<bool()> is_there_;
  std::shared_ptr<const MarksFile> marks_;
  Progress progress_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Index> index_;
  std::string failure_;
  bool settled_ = false;
  mutable std::condition_variable settled_now_;
  mutable std::mutex auxiliary_mutex_;
  mutable std::shared_ptr<const AuxiliaryEvents> auxiliary_events_;
  mutable std::shared_ptr<const Messages> messages_;
  mutable std::shared_ptr<const LockFacts> locks_;
  mutable std::shared_ptr<const exchange::RunSamples> samples_;
  mutable std::shared_ptr<const TimedSamples> timed_samples_;
};

struct Answer {
  unsigned status = 200;  // as in HTTP
  std::string_view type = "application/octet-stream";
  std::string body;
};

// `route`: the name behind "api/".
Answer answer_question(const Content& content, std::string_view route, std::string_view body);

// The lines of a function that the content may show, and their times.
SourceLines source_lines(const Content& content, const Region& region);

// The answer to `paths`, which a single-file page contains as well.
std::string paths_answer(const Index& index);
// The answer to one part of `calls`, likewise.
std::string calls_answer(const CallAnswer& found);

}  // namespace timeloom::view
