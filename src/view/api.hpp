// The questions that the viewer's page asks, as bytes, and their answers:
// docs/formats/view-http.md.
//
// Any thread may ask. What an answer takes is bounded by the limits of the questions. Whatever the
// bytes of a question are, the answer says so; nothing is thrown but what memory can.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/definitions.hpp"
#include "view/index.hpp"
#include "view/index_writer.hpp"

namespace timeloom::view {

// The content of the viewer: a run, and its index as soon as there is one. Any thread.
class Content {
 public:
  // `describe` makes the description of the run, as JSON; with the index, if there is one. Both
  // outlive this object.
  Content(const Definitions& definitions, std::function<std::string(const Index*)> describe)
      : definitions_(&definitions), describe_(std::move(describe)) {}

  const Definitions& definitions() const noexcept { return *definitions_; }
  std::string describe() const { return describe_(index().get()); }
  Progress& progress() noexcept { return progress_; }
  const Progress& progress() const noexcept { return progress_; }

  // Null: not there yet.
  std::shared_ptr<const Index> index() const {
    const std::lock_guard lock(mutex_);
    return index_;
  }
  std::string failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  void set_index(std::shared_ptr<const Index> index) {
    const std::lock_guard lock(mutex_);
    index_ = std::move(index);
  }
  // There will be no index.
  void fail(std::string reason) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(reason);
  }

 private:
  const Definitions* definitions_;
  std::function<std::string(const Index*)> describe_;
  Progress progress_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Index> index_;
  std::string failure_;
};

struct Answer {
  unsigned status = 200;  // as in HTTP
  std::string_view type = "application/octet-stream";
  std::string body;
};

// `route`: the name behind "api/".
Answer answer_question(const Content& content, std::string_view route, std::string_view body);

// The answer of `paths`, which a file holds as well.
std::string paths_answer(const Index& index);

}  // namespace timeloom::view
