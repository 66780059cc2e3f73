#include "view/connection.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <utility>

namespace timeloom::view {

namespace http = boost::beast::http;

namespace {

constexpr std::uint32_t kMostHeader = 16 << 10;
constexpr std::uint64_t kMostBody = 1 << 20;
constexpr std::size_t kPiece = 64 << 10;
constexpr int kIdleMs = 15'000;     // between two requests
constexpr int kRequestMs = 10'000;  // from the first byte of one to its last
// The same where others wait for a connection; how often that is asked.
constexpr int kIdleUnderPressureMs = 200, kRequestUnderPressureMs = 2'000, kAskMs = 200;

using Clock = std::chrono::steady_clock;

// In milliseconds; 0: it is over.
int left_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::int64_t{1} << 30));
}

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct Connection::Parser {
  http::request_parser<http::string_body> parser;
};

Connection::Connection(int socket, int stop, std::function<bool()> wanted, AnswerLimits limits)
    : socket_(socket), stop_(stop), wanted_(std::move(wanted)), limits_(limits) {}

Connection::~Connection() { ::close(socket_); }

Connection::Ready Connection::wait(short what, int milliseconds) const {
  pollfd waits[2] = {{socket_, what, 0}, {stop_, POLLIN, 0}};
  int ready = 0;
  while ((ready = ::poll(waits, 2, milliseconds)) < 0 && errno == EINTR) {
  }
  if (ready < 0 || waits[1].revents != 0) return Ready::kStop;
  return ready > 0 ? Ready::kYes : Ready::kNotYet;
}

// False: the time is over, all has to end, or others are to have the connection.
bool Connection::wait_for_bytes(int milliseconds, int before_giving_way) const {
  for (int waited = 0; waited < milliseconds; waited += kAskMs) {
    const Ready ready = wait(POLLIN, std::min(kAskMs, milliseconds - waited));
    if (ready != Ready::kNotYet) return ready == Ready::kYes;
    if (waited + kAskMs >= before_giving_way && wanted_ && wanted_()) return false;
  }
  return false;
}

bool Connection::receive(int milliseconds, int before_giving_way) {
  if (!wait_for_bytes(milliseconds, before_giving_way)) return false;
  const std::size_t before = input_.size();
  input_.resize(before + kPiece);
  const ssize_t got = ::recv(socket_, input_.data() + before, kPiece, 0);
  input_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  return got > 0 || (got < 0 && errno == EINTR);
}

bool Connection::send(std::string_view bytes, Time until) const {
  while (!bytes.empty()) {
    const int left = left_until(until);
    if (left == 0) return false;
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno != EINTR && errno != EAGAIN) {
      return false;
    } else if (wait(POLLOUT, left) != Ready::kYes) {
      return false;
    }
  }
  return true;
}

bool Connection::read_request(const std::string& headers) {
  parser_ = std::make_unique<Parser>();
  auto& parser = parser_->parser;
  parser.header_limit(kMostHeader);
  parser.body_limit(kMostBody);
  parser.eager(true);
  if (input_.empty() && !receive(kIdleMs, kIdleUnderPressureMs)) return false;
  const auto begin = Clock::now(), until = begin + std::chrono::milliseconds(kRequestMs);
  while (!parser.is_done()) {
    boost::beast::error_code error;
    if (!input_.empty()) {
      input_.erase(0, parser.put(boost::asio::buffer(input_), error));
      if (error == http::error::need_more) error = {};
    }
    if (error) {
      const bool large = error == http::error::body_limit || error == http::error::header_limit;
      keep_alive_ = false;
      static_cast<void>(answer({large ? 413u : 400u, "text/plain; charset=utf-8",
                                large ? "the request is too large\n" : "this is no request\n"},
                               headers));
      return false;
    }
    if (parser.is_done()) break;
    const int before_giving_way =
        left_until(begin + std::chrono::milliseconds(kRequestUnderPressureMs));
    if (!receive(left_until(until), before_giving_way)) return false;
  }
  keep_alive_ = parser.get().keep_alive();
  return true;
}

Request Connection::request() const {
  const auto& message = parser_->parser.get();
  Request request;
  request.method = view_of(message.method_string());
  request.target = view_of(message.target());
  request.host = view_of(message[http::field::host]);
  request.origin = view_of(message[http::field::origin]);
  request.site = view_of(message["Sec-Fetch-Site"]);
  request.token = view_of(message["X-Timeloom-Token"]);
  request.body = message.body();
  // A header that comes twice is a trick.
  if (message.count(http::field::host) > 1 || message.count(http::field::origin) > 1) {
    request.host = {};
  }
  return request;
}

bool Connection::answer(const Answer& answer, const std::string& headers) {
  const auto reason = view_of(http::obsolete_reason(http::int_to_status(answer.status)));
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " " + std::string(reason);
  head += "\r\nContent-Type: " + std::string(answer.type);
  head += "\r\nContent-Length: " + std::to_string(answer.body.size());
  head += keep_alive_ ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n";
  head += headers + "\r\n";
  const std::chrono::milliseconds more(answer.body.size() / limits_.bytes_per_ms);
  const auto until = Clock::now() + limits_.time + more;
  return send(head, until) && send(answer.body, until) && keep_alive_;
}

}  // namespace timeloom::view
