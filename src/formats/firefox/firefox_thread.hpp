// A sink that makes one thread of a Firefox profile from the events of a location.
//
// Used by one thread. Throws Error.
#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/child_table.hpp"
#include "exchange/call_sink.hpp"
#include "exchange/names.hpp"
#include "exchange/tracks.hpp"
#include "formats/firefox/firefox_column.hpp"

namespace timeloom::firefox {

class ThreadSink : public exchange::CallSink {
 public:
  // `prefix` is written before the thread; `samples`: the run has its samples, which take the place
  // of the stretches between its calls. All arguments outlive the sink.
  ThreadSink(const Definitions& definitions, const exchange::Tracks& tracks,
             const Location& location, exchange::Destination& out, std::string prefix,
             bool samples);

 protected:
  void enter(const Event& event, Arguments arguments) override;
  void leave(const Event& event, Arguments late) override;
  void value(const Event& event) override;
  void other(const Event& event) override;
  void end() override;

 private:
  struct Open {
    std::uint32_t stack = 0;
    std::uint64_t entered = 0;
    std::string parameters;
  };

  void sample_until(std::uint64_t time);
  void add_sample(const Event& event);
  // The number of the stack of the open calls.
  std::uint32_t open_stack() const noexcept;
  std::uint32_t stack_of(std::uint32_t above, std::uint32_t region);
  std::uint32_t function_of(std::uint32_t region);
  std::uint32_t string_of(const std::string& text);
  std::string texts_of(Arguments arguments) const;
  void add_marker(const std::string& name, std::uint64_t begin, std::uint64_t end,
                  exchange::Category category, const std::string& details);
  void add_markers_of_run();
  void write_head();
  using Columns = std::initializer_list<std::pair<const char*, Column*>>;
  void write_columns(const Columns& columns);
  void write_tables();
  void write_functions();

  const exchange::Tracks& tracks_;
  const Location& location_;
  exchange::Destination& out_;
  std::string prefix_;
  const bool samples_;
  exchange::RunClock clock_;
  std::vector<Open> open_;
  std::uint64_t since_ = 0;            // the start of the current stack
  std::vector<std::uint32_t> frames_;  // of the next sample, below the open calls

  ChildTable stacks_;  // a stack, by its parent and its last region
  std::unordered_map<std::uint32_t, std::uint32_t> functions_;
  std::unordered_map<std::string, std::uint32_t> strings_;
  std::vector<std::uint32_t> regions_;  // by function
  Column texts_;
  Column stack_frame_, stack_prefix_, stack_category_;
  Column sample_stack_, sample_time_, sample_weight_;
  Column marker_data_, marker_name_, marker_begin_, marker_end_, marker_phase_, marker_category_;
};

}  // namespace timeloom::firefox
