#include "view/server/server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "os/memory.hpp"
#include "os/resolved_path.hpp"

namespace timeloom::view {

namespace {

constexpr std::size_t kThreads = 16;
constexpr std::size_t kMostConnections = 512;
constexpr std::size_t kAcceptedAtOnce = 64;
constexpr std::size_t kMostHeld = std::size_t{256} << 20;  // bytes of all connections
constexpr int kPauseMs = 100;  // after the system had no descriptor or memory for a connection

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& where) {
  throw Error("cannot listen at " + where + ": " + std::generic_category().message(errno) +
              " [TL503]");
}

std::int64_t now_seconds() noexcept {
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now().time_since_epoch()).count();
}

// For poll(2): -1 means forever.
int milliseconds_until(Clock::time_point end, Clock::time_point now) {
  if (end == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
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
  if (::bind(descriptor, plain, length) != 0 || ::listen(descriptor, SOMAXCONN) != 0 ||
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
  if (path.size() >= sizeof address.sun_path)
    throw Error("the path of the socket is too long [TL503]");
  if (const std::string link = os::link_of_another_user(path); !link.empty())
    throw Error(link + " is a link of another user; name another socket [TL304]");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) fail(path);
  // The program is still in its main thread, so no other thread creates files meanwhile.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  errno = error;
  if (bound != 0 || ::listen(descriptor, SOMAXCONN) != 0) {
    ::close(descriptor);
    fail(path);
  }
  return descriptor;
}

}  // namespace

Server::Server(const RequestHandler& handler, std::uint16_t port, const std::string& socket_path)
    : handler_(handler), socket_path_(socket_path), port_(port), last_request_(now_seconds()) {
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) fail("all");
  listening_ = socket_path.empty() ? listen_at_port(port_) : listen_at_path(socket_path);
  // Each thread reads parts of the index that all threads share.
  os::share_heaps(std::thread::hardware_concurrency());
  threads_.emplace_back([this] { serve(); });
  for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { answer_requests(); });
}

Server::~Server() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake();
  asked_some_.notify_all();
  threads_.clear();  // joins them
  ::close(listening_);
  ::close(wake_);
  if (!socket_path_.empty()) ::unlink(socket_path_.c_str());
}

std::chrono::seconds Server::idle() const noexcept {
  return std::chrono::seconds(now_seconds() - last_request_);
}

void Server::serve() noexcept {
  for (;;) {
    try {
      serve_round();
    } catch (const std::exception&) {
      // Out of memory: the next round may succeed.
      pollfd wake{wake_, POLLIN, 0};
      static_cast<void>(::poll(&wake, 1, kPauseMs));
    }
    const std::lock_guard lock(mutex_);
    if (ends_) return;
  }
}

// Waits until a connection is ready, and serves it.
void Server::serve_round() {
  const auto now = Clock::now();
  auto next = accepts_from_ > now ? accepts_from_ : Connection::Time::max();
  waits_.clear();
  waits_.push_back({wake_, POLLIN, 0});
  waits_.push_back({accepts_from_ > now ? -1 : listening_, POLLIN, 0});
  for (const auto& client : clients_) {
    const Connection& connection = client->connection;
    const bool asked = connection.state() == Connection::State::kAsked;
    const bool reads = connection.state() == Connection::State::kReading;
    const short what = reads ? POLLIN : POLLOUT;
    waits_.push_back({asked ? -1 : connection.socket(), what, 0});
    if (!asked) next = std::min(next, connection.until());
  }
  if (::poll(waits_.data(), waits_.size(), milliseconds_until(next, now)) < 0) return;
  for (std::size_t i = 0; i < clients_.size(); ++i) go_on(*clients_[i], waits_[i + 2].revents != 0);
  if (waits_[0].revents != 0) take_answers();
  if (waits_[1].revents != 0) accept_some();
  close_those_over();
}

// `ready`: its socket can be read or written.
void Server::go_on(Client& client, bool ready) {
  Connection& connection = client.connection;
  if (!ready || connection.state() == Connection::State::kAsked) return;
  if (connection.state() == Connection::State::kReading) {
    connection.receive(handler_.headers());
  } else {
    connection.send(handler_.headers());
  }
  hand_on(client);
}

// A complete request goes to the request threads.
void Server::hand_on(Client& client) {
  if (client.connection.state() != Connection::State::kAsked) return;
  last_request_ = now_seconds();
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(&client);
  }
  asked_some_.notify_one();
}

void Server::take_answers() {
  std::uint64_t count = 0;
  static_cast<void>(::read(wake_, &count, sizeof count));
  for (const auto& client : clients_) {
    if (!client->answered.exchange(false)) continue;
    client->connection.answer(std::exchange(client->answer, {}), handler_.headers());
    last_request_ = now_seconds();
    hand_on(*client);
  }
}

void Server::accept_some() {
  for (std::size_t i = 0; i < kAcceptedAtOnce; ++i) {
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return;
      accepts_from_ = Clock::now() + std::chrono::milliseconds(kPauseMs);
      close_oldest();
      return;
    }
    const int yes = 1;
    static_cast<void>(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
    clients_.push_back(std::make_unique<Client>(socket));
  }
}

// Closes the connection that has waited longest. False: all connections wait for this server.
bool Server::close_oldest() noexcept {
  const auto rank = [](const auto& client) {
    const bool asked = client->connection.state() == Connection::State::kAsked;
    return std::pair(asked, client->connection.since());
  };
  const auto oldest = std::ranges::min_element(clients_, {}, rank);
  if (oldest == clients_.end() || rank(*oldest).first) return false;
  clients_.erase(oldest);
  return true;
}

// Also closes connections that exceed the limits of time, number or memory.
void Server::close_those_over() {
  const auto now = Clock::now();
  std::erase_if(clients_, [now](const auto& client) {
    const Connection& connection = client->connection;
    return connection.state() == Connection::State::kOver ||
           (connection.state() != Connection::State::kAsked && connection.until() <= now);
  });
  const auto too_much = [this] {
    std::size_t held = 0;
    for (const auto& client : clients_) held += client->connection.held();
    return clients_.size() > kMostConnections || held > kMostHeld;
  };
  while (too_much() && close_oldest()) {
  }
}

// The body of a request thread.
void Server::answer_requests() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_some_.wait(lock, [this] { return ends_ || !asked_.empty(); });
    if (ends_) return;
    Client& client = *asked_.front();
    asked_.pop_front();
    lock.unlock();
    try {
      client.answer = handler_.handle(client.connection.request());
    } catch (const std::exception&) {
      client.answer = {503, "text/plain; charset=utf-8", "out of memory\n"};
    }
    client.answered = true;  // from here on the connection thread owns it
    wake();
    lock.lock();
  }
}

void Server::wake() const noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_, &one, sizeof one));
}

}  // namespace timeloom::view
