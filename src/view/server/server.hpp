// The HTTP server of the viewer: reachable from this machine only, with limits on number, time and
// memory of its connections.
//
// One thread holds all connections and never waits for one of them; other threads answer complete
// requests. So a connection that sends half a request, or does not read its answer, delays no other
// connection.
//
// Constructed and stopped by one thread. Throws Error when it cannot listen.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "view/server/connection.hpp"
#include "view/server/request_handler.hpp"

namespace timeloom::view {

class Server {
 public:
  // Listens at a port of 127.0.0.1 (0: any free one) or, if a path is given, at a socket there that
  // only this user may use. The handler outlives it.
  Server(const RequestHandler& handler, std::uint16_t port, const std::string& socket_path);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const noexcept { return port_; }
  // The time since the last request.
  std::chrono::seconds idle() const noexcept;

 private:
  // A connection, and the answer that a request thread makes for it.
  struct Client {
    explicit Client(int socket) : connection(socket) {}
    Connection connection;
    Answer answer;
    std::atomic<bool> answered = false;
  };

  void serve() noexcept;
  void serve_round();
  void accept_some();
  bool close_oldest() noexcept;
  void take_answers();
  void go_on(Client& client, bool ready);
  void hand_on(Client& client);
  void close_those_over();
  void answer_requests() noexcept;
  void wake() const noexcept;

  const RequestHandler& handler_;
  std::string socket_path_;
  std::uint16_t port_ = 0;
  int listening_ = -1;
  int wake_ = -1;  // readable when there are answers, or when the server shall stop
  std::atomic<std::int64_t> last_request_;

  // Used by the connection thread only.
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<pollfd> waits_;
  Connection::Time accepts_from_{};  // until then the system lacks a resource

  std::mutex mutex_;  // guards the following members
  std::condition_variable asked_some_;
  std::deque<Client*> asked_;
  bool ends_ = false;

  std::vector<std::jthread> threads_;
};

}  // namespace timeloom::view
