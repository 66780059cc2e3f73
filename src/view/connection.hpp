// A connection to the viewer's server: whole requests in, answers out.
//
// Used by one thread. Nothing is thrown but what memory can; false says that the connection is
// over.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "view/request_handler.hpp"

namespace timeloom::view {

// How long an answer may take: so long and, on top, as long as its bytes take at this rate.
struct AnswerLimits {
  std::chrono::milliseconds time{30'000};
  std::size_t bytes_per_ms = 64;
};

class Connection {
 public:
  // Takes the socket. `stop`: a descriptor that becomes readable when all has to end. `wanted` says
  // whether other connections wait for the thread: a connection without a request gives way then.
  Connection(int socket, int stop, std::function<bool()> wanted = {}, AnswerLimits limits = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Reads the next request. One that is none, or is too large, is answered here.
  bool read_request(const std::string& headers);
  // Of the request that was read; valid until the next one.
  Request request() const;
  // Whether it stays open afterwards.
  bool answer(const Answer& answer, const std::string& headers);

 private:
  struct Parser;
  using Time = std::chrono::steady_clock::time_point;

  enum class Ready : std::uint8_t { kYes, kNotYet, kStop };
  Ready wait(short what, int milliseconds) const;
  bool wait_for_bytes(int milliseconds, int before_giving_way) const;
  bool receive(int milliseconds, int before_giving_way);
  bool send(std::string_view bytes, Time until) const;

  int socket_;
  int stop_;
  std::function<bool()> wanted_;
  AnswerLimits limits_;
  std::string input_;  // not parsed yet
  std::unique_ptr<Parser> parser_;
  bool keep_alive_ = false;
};

}  // namespace timeloom::view
