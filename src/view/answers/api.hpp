// The questions that the viewer's page asks, as bytes, and their answers:
// docs/formats/view-http.md.
//
// Any thread may ask. What an answer takes is bounded by the limits of the questions. Whatever the
// bytes of a question are, the answer says so; nothing is thrown but what memory can.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "view/answers/marks_file.hpp"
#include "view/answers/side_events.hpp"
#include "view/answers/source_files.hpp"
#include "view/answers/viewed_messages.hpp"
#include "view/index/index.hpp"
#include "view/index/index_writer.hpp"

namespace timeloom::view {

// The content of the viewer: a run, and its index as soon as there is one. Any thread.
class Content {
 public:
  // `describe` makes the description of the run, as JSON; with the index, if there is one. Both
  // outlive this object.
  Content(const Definitions& definitions, std::function<std::string(const Index*)> describe)
      : definitions_(&definitions), describe_(std::move(describe)) {}

  // Where lines of functions may come from; nothing else changes it. REQUIRES: no question yet.
  void set_sources(std::shared_ptr<const SourceFiles> sources) { sources_ = std::move(sources); }
  const SourceFiles* sources() const noexcept { return sources_.get(); }
  // Where marks are kept; the same holds. Null: nowhere.
  void set_marks(std::shared_ptr<const MarksFile> marks) { marks_ = std::move(marks); }
  const MarksFile* marks() const noexcept { return marks_.get(); }

  const Definitions& definitions() const noexcept { return *definitions_; }
  std::string describe() const { return describe_(index().get()); }
  Progress& progress() noexcept { return progress_; }
  const Progress& progress() const noexcept { return progress_; }

  // Null: not there yet.
  std::shared_ptr<const Index> index() const {
    const std::lock_guard lock(mutex_);
    return index_;
  }
  // Read when it is asked for first. REQUIRES: there is an index.
  std::shared_ptr<const SideEvents> side_events() const {
    const std::shared_ptr<const Index> index = this->index();
    const std::lock_guard lock(side_mutex_);
    if (!side_events_) side_events_ = std::make_shared<const SideEvents>(*index, *definitions_);
    return side_events_;
  }
  // The same.
  std::shared_ptr<const Messages> messages() const {
    const std::shared_ptr<const SideEvents> events = side_events();
    const std::shared_ptr<const Index> index = this->index();
    const std::lock_guard lock(side_mutex_);
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
  // The index is sound as far as can be known, or there will be none: nobody goes on waiting.
  void settle() {
    const std::lock_guard lock(mutex_);
    settled_ = true;
    settled_now_.notify_all();
  }
  // Waits for that; the index that is there then.
  std::shared_ptr<const Index> settled_index() const {
    std::unique_lock lock(mutex_);
    settled_now_.wait(lock, [this] { return settled_; });
    return index_;
  }
  // There will be no index.
  void fail(std::string reason) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(reason);
  }

 private:
  const Definitions* definitions_;
  std::function<std::string(const Index*)> describe_;
  std::shared_ptr<const SourceFiles> sources_;
  std::shared_ptr<const MarksFile> marks_;
  Progress progress_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Index> index_;
  std::string failure_;
  bool settled_ = false;
  mutable std::condition_variable settled_now_;
  mutable std::mutex side_mutex_;
  mutable std::shared_ptr<const SideEvents> side_events_;
  mutable std::shared_ptr<const Messages> messages_;
};

struct Answer {
  unsigned status = 200;  // as in HTTP
  std::string_view type = "application/octet-stream";
  std::string body;
};

// `route`: the name behind "api/".
Answer answer_question(const Content& content, std::string_view route, std::string_view body);

// The answer of `source` for a region.
std::string source_answer(const Content& content, const Region& region);

// The answer of `paths`, which a file holds as well.
std::string paths_answer(const Index& index);

}  // namespace timeloom::view
