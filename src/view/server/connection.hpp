// A connection to the viewer's server: takes whole requests and sends answers. Its functions never
// wait: state() and until() tell the thread that holds many connections for what to wait, and how
// long.
//
// Used by one thread at a time: no other thread uses the connection while a request is being
// answered. Throws only std::bad_alloc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "view/server/request_handler.hpp"

namespace timeloom::view {

// The time limit of an answer: a fixed time, plus the time for its bytes at a minimum rate.
struct AnswerLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t bytes_per_ms = 64;
};

class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State : std::uint8_t { kReading, kAsked, kAnswering, kOver };

  // Takes over a non-blocking socket.
  explicit Connection(int socket, AnswerLimits limits = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  int socket() const noexcept { return socket_; }
  State state() const noexcept { return state_; }
  // The time at which it started to wait for its peer, and the time limit of the wait.
  Time since() const noexcept { return since_; }
  Time until() const noexcept { return until_; }
  // Bytes of the question and the answer in memory.
  std::size_t held() const;

  // Takes the received bytes. An invalid or too large request is answered here. REQUIRES: kReading.
  void receive(const std::string& headers);
  // The request that was read; valid until it is answered. REQUIRES: kAsked.
  Request request() const;
  // Sends as much as the socket accepts. REQUIRES: kAsked.
  void answer(const Answer& answer, const std::string& headers);
  // Continues sending. REQUIRES: kAnswering.
  void send(const std::string& headers);

 private:
  struct Parser;

  void begin_request();
  void parse(const std::string& headers);
  void refuse(const Answer& answer, const std::string& headers);
  void put(const Answer& answer, const std::string& headers);
  bool send_some();

  int socket_;
  AnswerLimits limits_;
  State state_ = State::kReading;
  bool keep_alive_ = false;
  Time since_, until_;
  std::string input_;   // not parsed yet
  std::string output_;  // from sent_ on not sent yet
  std::size_t sent_ = 0;
  std::unique_ptr<Parser> parser_;
};

}  // namespace timeloom::view
