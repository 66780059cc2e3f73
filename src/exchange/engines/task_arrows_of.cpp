#include "exchange/engines/task_arrows_of.hpp"

#include <array>
#include <memory>
#include <mutex>

namespace timeloom::exchange {
namespace {

// Collects the tasks of all locations.
class TaskCollector final : public RunSink {
 public:
  explicit TaskCollector(const Definitions& definitions) : parameters_(definitions) {}

  void begin(const Definitions&) override {}
  std::unique_ptr<LocationSink> open_location(const Location& location) override {
    return std::make_unique<OneLocation>(*this, location.id);
  }
  void finish() override {}

  const profile::TaskParameters& parameters() const noexcept { return parameters_; }
  const profile::FollowedTasks& followed() const noexcept { return followed_; }

 private:
  class OneLocation final : public LocationSink {
   public:
    OneLocation(TaskCollector& all, LocationId location)
        : all_(all), follower_(all.parameters_, location.value()) {}

    void consume(std::span<const Event> events) override {
      for (const Event& event : events) {
        switch (event.kind) {
          case EventKind::kEnter: follower_.enter(ticks(event.time)); break;
          case EventKind::kLeave: follower_.leave(ticks(event.time)); break;
          case EventKind::kParameterString: follower_.parameter(event); break;
          default: break;
        }
      }
    }
    void finish() override {
      const std::scoped_lock lock(all_.mutex_);
      all_.followed_.add(follower_.take());
    }

   private:
    TaskCollector& all_;
    profile::TaskFollower follower_;
  };

  profile::TaskParameters parameters_;
  std::mutex mutex_;
  profile::FollowedTasks followed_;
};

ArrowsOfTask& arrows_of(NumberedArrows& all, const profile::FollowedTask& task) {
  return all[LocationId{task.track}][task.call];
}

}  // namespace

NumberedArrows number_arrows(RunSource& run, const Options& options) {
  TaskCollector collector(run.definitions());
  NumberedArrows numbers;
  if (!collector.parameters().any()) return numbers;
  const std::array<RunSink*, 1> sinks = {&collector};
  run.replay(sinks, options.threads);
  const std::vector<profile::FollowedTask>& tasks = collector.followed().tasks;
  std::uint64_t next = 1;
  const profile::TaskArrows found =
      profile::arrows_between(collector.followed(), profile::tolerance_of(run.definitions().clock));
  for (const auto& [made, taken] : found.arrows) {
    arrows_of(numbers, tasks[made]).made.push_back(next);
    arrows_of(numbers, tasks[taken]).taken.push_back(next);
    ++next;
  }
  if (!found.complete) options.note(profile::kArrowsLeftOut);
  return numbers;
}

}  // namespace timeloom::exchange
