// The run that `timeloom view` shows: its definitions, and its index.
//
// Made and used by the main thread; have_sound_index() may run in another one, beside questions to
// content(). Throws Error.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/event.hpp"
#include "core/window.hpp"
#include "view/answers/api.hpp"

namespace timeloom::tools {

class ViewedRun {
 public:
  // Opens the trace of a woven run, and its index if there is one.
  explicit ViewedRun(const std::filesystem::path& run);
  // Opens the part of it within a window, which gets an index of its own. The memory and the
  // samples of the run, which are known as a whole, are left out.
  ViewedRun(const std::filesystem::path& run, const Window& window);

  view::Content& content() noexcept { return content_; }
  const Definitions& definitions() const noexcept { return definitions_; }
  const std::string& title() const noexcept { return title_; }

  // Makes the index if there is none; a damaged one is made anew, and a line reports it. Reads the
  // index, or the trace. Throws Cancelled if content().progress() was cancelled.
  void have_sound_index();
  // The index, which is sound.
  std::shared_ptr<const view::Index> index();

 private:
  void set_samples();
  bool is_sound();
  void make_index();

  std::string title_;
  std::filesystem::path anchor_;
  std::unique_ptr<RunSource> whole_;  // of which `source_` is a part; null: it is the whole
  std::unique_ptr<RunSource> source_;
  Definitions definitions_;  // the source changes its own while it is read
  std::uint64_t identity_;
  bool damaged_ = false;  // the index that was there
  view::Content content_;
};

}  // namespace timeloom::tools
