// A connection to the viewer's server: whole requests in, answers out. It never waits: the thread
// that holds many of them learns from it what to wait for, and until when.
//
// Used by one thread at a time: while a request is being answered, nobody touches the connection.
// Nothing is thrown but what memory can.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "view/server/request_handler.hpp"

namespace timeloom::view {

// How long an answer may take: so long and, on top, as long as its bytes take at this rate.
struct AnswerLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t bytes_per_ms = 64;
};

class Connection {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State : std::uint8_t { kReading, kAsked, kAnswering, kOver };

  // Takes the socket, which does not block.
  explicit Connection(int socket, AnswerLimits limits = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  int socket() const noexcept { return socket_; }
  State state() const noexcept { return state_; }
  // The time at which it began to wait for its reader or writer, and the end of its patience.
  Time since() const noexcept { return since_; }
  Time until() const noexcept { return until_; }
  // Bytes of the question and of the answer that it keeps.
  std::size_t held() const;

  // Takes what has come. A request that is none, or is too large, is answered here. REQUIRES:
  // kReading.
  void receive(const std::string& headers);
  // Of the request that was read; valid until it is answered. REQUIRES: kAsked.
  Request request() const;
  // REQUIRES: kAsked. Sends what the socket takes.
  void answer(const Answer& answer, const std::string& headers);
  // Goes on sending. REQUIRES: kAnswering.
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
