// A run that `timeloom view` follows while it is recorded, and shows as a finished run once it is
// woven.
//
// Used by the main thread; states() may be used by any thread. A thread of its own reads the run
// while a browser asks for it. The constructor throws Error.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "view/answers/live_states.hpp"
#include "view/answers/source_files.hpp"
#include "weave/live_run.hpp"

namespace timeloom::tools {

class ViewedRun;

class LiveView {
 public:
  // REQUIRES: the run is recorded, or was a moment ago.
  LiveView(const std::filesystem::path& run, std::shared_ptr<const view::SourceFiles> sources);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;
  ~LiveView();

  const view::LiveStates& states() const noexcept { return states_; }
  // Whether this process is weaving the run; the destructor waits for the end of that. If the
  // process is killed meanwhile, the run is still intact.
  bool weaves() const noexcept { return weaves_; }

 private:
  using Clock = view::LiveStates::Clock;

  void follow(const std::stop_token& stop);
  void make_room();
  bool look();
  void lose(const std::string& message);
  void show_woven(const std::stop_token& stop);
  void show_woven_at(const std::filesystem::path& path, const std::stop_token& stop);
  bool wait_for_weave(const std::stop_token& stop);
  void weave_here(bool keep_spool);
  // False: the end is wanted.
  bool pause(const std::stop_token& stop, Clock::duration time);
  bool wait_for_watcher(const std::stop_token& stop);

  std::filesystem::path run_;
  std::shared_ptr<const view::SourceFiles> sources_;
  weave::LiveReader reader_;
  view::LiveStates states_;
  std::shared_ptr<const view::Index> index_;  // of the newest state
  bool failed_ = false;                       // the last look
  bool killed_ = false;                       // the program could not finish its measurement
  std::atomic<bool> weaves_ = false;
  std::mutex mutex_;                  // of the next two
  std::shared_ptr<ViewedRun> woven_;  // null: not yet
  std::condition_variable_any ended_;
  std::jthread thread_;
};

}  // namespace timeloom::tools
