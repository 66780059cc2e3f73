// The HTTP server of the viewer: on this machine only, a few connections at a time, each bounded in
// time and memory.
//
// Made and stopped by one thread. Throws Error when it cannot listen.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "view/request_handler.hpp"

namespace timeloom::view {

class Server {
 public:
  // Listens at a port of 127.0.0.1 (0: any free one) or, if there is a path, at a socket there that
  // only this user may use. The handler outlives it.
  Server(const RequestHandler& handler, std::uint16_t port, const std::string& socket_path);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  std::uint16_t port() const noexcept { return port_; }
  // The time since the last request.
  std::chrono::seconds idle() const noexcept;

 private:
  void serve() noexcept;
  void serve(int connection);
  bool others_wait() const noexcept;

  const RequestHandler& handler_;
  std::string socket_path_;
  std::uint16_t port_ = 0;
  int listening_ = -1;
  int stop_ = -1;  // readable when it is to end
  std::atomic<std::int64_t> last_request_;
  std::atomic<int> waiting_threads_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace timeloom::view
