#include "view/answers/live_states.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "view/answers/json_strings.hpp"

namespace timeloom::view {

namespace {

const char* name_of(LiveStates::Stage stage) noexcept {
  switch (stage) {
    case LiveStates::Stage::kReading: return "reading";
    case LiveStates::Stage::kRunning: return "running";
    case LiveStates::Stage::kWeaving: return "weaving";
    case LiveStates::Stage::kWoven: return "woven";
    case LiveStates::Stage::kLost: break;
  }
  return "lost";
}

double seconds(LiveStates::Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void LiveStates::put(std::shared_ptr<const Content> content, Stage stage, Clock::time_point begin,
                     Clock::time_point end) {
  std::shared_ptr<const Content> dropped;  // destroyed when the lock is gone
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(content));
  ++newest_;
  stage_ = stage;
  message_.clear();
  begin_ = begin;
  end_ = end;
  if (kept_.size() <= kKept) return;
  dropped = std::move(kept_.front());
  kept_.pop_front();
}

void LiveStates::drop_older() {
  std::deque<std::shared_ptr<const Content>> dropped;  // destroyed when the lock is gone
  const std::lock_guard lock(mutex_);
  if (kept_.empty()) return;
  dropped.swap(kept_);
  kept_.push_back(std::move(dropped.back()));
}

void LiveStates::tell(Stage stage, std::string message) {
  const std::lock_guard lock(mutex_);
  stage_ = stage;
  message_ = std::move(message);
}

std::shared_ptr<const Content> LiveStates::at(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  if (number > newest_ || newest_ - number >= kept_.size()) return nullptr;
  return kept_[kept_.size() - 1 - (newest_ - number)];
}

std::string LiveStates::describe(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  asked_ = now;
  nlohmann::ordered_json json;
  json["state"] = newest_;
  json["stage"] = name_of(stage_);
  json["age"] = newest_ == 0 ? 0 : seconds(now - begin_);
  json["look"] = newest_ == 0 ? 0 : seconds(end_ - begin_);
  json["events"] = progress_.events.load();
  json["message"] = message_;
  return json_text(json);
}

LiveStates::Clock::duration LiveStates::unwatched(Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return now - asked_;
}

}  // namespace timeloom::view
