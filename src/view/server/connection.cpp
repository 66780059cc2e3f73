#include "view/server/connection.hpp"

#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>

namespace timeloom::view {

namespace http = boost::beast::http;

namespace {

constexpr std::uint32_t kMostHeader = 16 << 10;
constexpr std::uint64_t kMostBody = 1 << 20;
constexpr std::size_t kPiece = 64 << 10;
constexpr std::chrono::seconds kIdle{15};         // between two requests
constexpr std::chrono::seconds kRequestTime{10};  // from the first byte of one to its last

using ConnectionClock = std::chrono::steady_clock;

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct Connection::Parser {
  http::request_parser<http::string_body> parser;
};

Connection::Connection(int socket, AnswerLimits limits) : socket_(socket), limits_(limits) {
  begin_request();
}

Connection::~Connection() { ::close(socket_); }

std::size_t Connection::held() const {
  return input_.size() + output_.size() + (parser_ ? parser_->parser.get().body().size() : 0);
}

void Connection::begin_request() {
  state_ = State::kReading;
  parser_ = std::make_unique<Parser>();
  parser_->parser.header_limit(kMostHeader);
  parser_->parser.body_limit(kMostBody);
  parser_->parser.eager(true);
  since_ = ConnectionClock::now();
  until_ = since_ + kIdle;
}

void Connection::receive(const std::string& headers) {
  const std::size_t before = input_.size();
  input_.resize(before + kPiece);
  const ssize_t got = ::recv(socket_, input_.data() + before, kPiece, MSG_DONTWAIT);
  input_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got > 0) return parse(headers);
  if (got == 0 || (errno != EINTR && errno != EAGAIN)) state_ = State::kOver;
}

// Parses the bytes received so far.
void Connection::parse(const std::string& headers) {
  auto& parser = parser_->parser;
  if (!parser.got_some()) until_ = ConnectionClock::now() + kRequestTime;
  while (!parser.is_done() && !input_.empty()) {
    boost::beast::error_code error;
    const std::size_t taken = parser.put(boost::asio::buffer(input_), error);
    input_.erase(0, taken);
    if (error == http::error::need_more) error = {};
    if (error) {
      const bool large = error == http::error::body_limit || error == http::error::header_limit;
      return refuse({large ? 413u : 400u, "text/plain; charset=utf-8",
                     large ? "the request is too large\n" : "this is not a request\n"},
                    headers);
    }
    if (taken == 0) break;
  }
  if (!parser.is_done()) return;
  keep_alive_ = parser.get().keep_alive();
  state_ = State::kAsked;
}

Request Connection::request() const {
  const auto& message = parser_->parser.get();
  Request request;
  request.method = view_of(message.method_string());
  request.target = view_of(message.target());
  request.host = view_of(message[http::field::host]);
  request.origin = view_of(message[http::field::origin]);
  constexpr std::string_view kSite = "Sec-Fetch-Site", kToken = "X-Timeloom-Token";
  request.site = view_of(message[{kSite.data(), kSite.size()}]);
  request.token = view_of(message[{kToken.data(), kToken.size()}]);
  request.body = message.body();
  // A duplicate header is an attack.
  const std::array counts = {message.count(http::field::host), message.count(http::field::origin),
                             message.count({kSite.data(), kSite.size()}),
                             message.count({kToken.data(), kToken.size()})};
  for (const std::size_t count : counts) {
    if (count > 1) request.host = {};
  }
  return request;
}

void Connection::refuse(const Answer& answer, const std::string& headers) {
  keep_alive_ = false;
  put(answer, headers);
  send(headers);
}

void Connection::answer(const Answer& answer, const std::string& headers) {
  put(answer, headers);
  send(headers);
}

void Connection::put(const Answer& answer, const std::string& headers) {
  const auto reason = view_of(http::obsolete_reason(http::int_to_status(answer.status)));
  output_ = "HTTP/1.1 " + std::to_string(answer.status) + " " + std::string(reason);
  output_ += "\r\nContent-Type: " + std::string(answer.type);
  output_ += "\r\nContent-Length: " + std::to_string(answer.body.size());
  output_ += keep_alive_ ? "\r\nConnection: keep-alive\r\n" : "\r\nConnection: close\r\n";
  output_ += headers + "\r\n" + answer.body;
  sent_ = 0;
  state_ = State::kAnswering;
  since_ = ConnectionClock::now();
  until_ =
      since_ + limits_.time + std::chrono::milliseconds(answer.body.size() / limits_.bytes_per_ms);
}

// Returns false if the connection is broken.
bool Connection::send_some() {
  while (sent_ < output_.size()) {
    const ssize_t sent = ::send(socket_, output_.data() + sent_, output_.size() - sent_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      sent_ += static_cast<std::size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN) {
      return true;
    } else if (sent == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

void Connection::send(const std::string& headers) {
  if (!send_some()) {
    state_ = State::kOver;
    return;
  }
  if (sent_ < output_.size()) return;
  output_ = {};
  state_ = State::kOver;
  if (!keep_alive_) return;
  begin_request();
  if (!input_.empty()) parse(headers);  // the next request has arrived already
}

}  // namespace timeloom::view
