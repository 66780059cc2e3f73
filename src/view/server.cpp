#include "view/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "os/memory.hpp"
#include "view/connection.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kConnections = 16;
constexpr int kPauseMs = 100;  // when the system has no descriptor or memory for a connection

[[noreturn]] void fail(const std::string& where) {
  throw Error("cannot listen at " + where + ": " + std::generic_category().message(errno));
}

std::int64_t now_seconds() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int listen_at_port(std::uint16_t& port) {
  const std::string where = "port " + std::to_string(port) + " of this machine";
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) fail(where);
  const int yes = 1;
  static_cast<void>(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(descriptor, plain, length) != 0 || ::listen(descriptor, 16) != 0 ||
      ::getsockname(descriptor, plain, &length) != 0) {
    const int error = errno;
    ::close(descriptor);
    errno = error;
    fail(where);
  }
  port = ntohs(address.sin_port);
  return descriptor;
}

int listen_at_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw Error("the path of the socket is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) fail(path);
  // The program is in its main thread still: nobody makes files meanwhile.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  errno = error;
  if (bound != 0 || ::listen(descriptor, 16) != 0) {
    ::close(descriptor);
    fail(path);
  }
  return descriptor;
}

}  // namespace

Server::Server(const RequestHandler& handler, std::uint16_t port, const std::string& socket_path)
    : handler_(handler), socket_path_(socket_path), port_(port), last_request_(now_seconds()) {
  stop_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_ < 0) fail("all");
  listening_ = socket_path.empty() ? listen_at_port(port_) : listen_at_path(socket_path);
  // Each thread reads parts of the index that are kept for all.
  os::share_heaps(std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < kConnections; ++i) threads_.emplace_back([this] { serve(); });
}

Server::~Server() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_, &one, sizeof one));
  threads_.clear();  // joins them
  ::close(listening_);
  ::close(stop_);
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
}

std::chrono::seconds Server::idle() const noexcept {
  return std::chrono::seconds(now_seconds() - last_request_);
}

// One connection after the other, until the end.
void Server::serve() noexcept {
  for (;;) {
    pollfd waits[2] = {{listening_, POLLIN, 0}, {stop_, POLLIN, 0}};
    ++waiting_threads_;
    const int ready = ::poll(waits, 2, -1);
    --waiting_threads_;
    if (ready < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      // Another thread took it, unless the system is short of something.
      const bool short_of =
          errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (short_of && ::poll(&waits[1], 1, kPauseMs) > 0) return;
      continue;
    }
    try {
      serve(connection);
    } catch (const std::exception&) {
      // Out of memory: this connection is over.
    }
  }
}

// Whether a connection waits to be accepted while every thread serves another one.
bool Server::others_wait() const noexcept {
  pollfd waits{listening_, POLLIN, 0};
  return waiting_threads_ == 0 && ::poll(&waits, 1, 0) > 0;
}

void Server::serve(int socket) {
  Connection connection(socket, stop_, [this] { return others_wait(); });
  const int yes = 1;
  static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
  while (connection.read_request(handler_.headers())) {
    last_request_ = now_seconds();
    const Answer answer = handler_.handle(connection.request());
    const bool stays = connection.answer(answer, handler_.headers());
    last_request_ = now_seconds();
    if (!stays) return;
  }
}

}  // namespace timeloom::view
