// A LocationSink for formats whose calls carry their parameters. It passes on an enter together
// with the parameters that follow it directly; later parameters come with the leave.
//
// As LocationSink: used by one thread at a time. Throws what the derived class throws.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/event.hpp"
#include "exchange/arguments.hpp"

namespace timeloom::exchange {

class CallSink : public LocationSink {
 public:
  // `definitions` outlive it. Events of undefined parameters or metrics are left out.
  explicit CallSink(const Definitions& definitions) : definitions_(definitions) {}
  void consume(std::span<const Event> events) final;
  void finish() final;

 protected:
  using Arguments = std::span<const Event>;
  virtual void enter(const Event& event, Arguments arguments) = 0;
  virtual void leave(const Event& event, Arguments late) = 0;
  // A value of a metric.
  virtual void value(const Event&) {}
  // Events that are neither enter, leave, parameter nor metric, except for the ends of wakeups
  // (core/wakeups.hpp).
  virtual void other(const Event&) {}
  // Called after the last event.
  virtual void end() {}

  const Definitions& definitions() const noexcept { return definitions_; }

 private:
  void pass_enter();
  void leave_now(const Event& event);

  const Definitions& definitions_;
  std::optional<Event> entered_;  // waits for its parameters
  std::vector<Event> arguments_;
  std::uint32_t depth_ = 0;
  std::vector<std::pair<std::uint32_t, Event>> late_;  // with the depth of the visit
  std::vector<Event> of_leave_;
};

}  // namespace timeloom::exchange
