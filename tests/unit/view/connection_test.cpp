// A connection receives and sends without ever waiting.

#include "view/server/connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace timeloom::view {
namespace {

constexpr std::size_t kSize = 4 << 20;
constexpr char kRequest[] = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";

using State = Connection::State;

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~ConnectionTest() override { ::close(ends_[0]); }

  // The server's side.
  int socket() const { return ends_[1]; }
  void write(std::string_view text) const {
    EXPECT_EQ(::send(ends_[0], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  // Reads at most this many bytes.
  std::string read(std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t got = ::recv(ends_[0], text.data(), most, MSG_DONTWAIT);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  void hang_up() const { ::shutdown(ends_[0], SHUT_WR); }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(ConnectionTest, HalfARequestIsNone) {
  Connection connection(socket());
  connection.receive("");
  EXPECT_EQ(connection.state(), State::kReading);
  const std::string_view request = kRequest;
  write(request.substr(0, 20));
  connection.receive("");
  EXPECT_EQ(connection.state(), State::kReading);
  write(request.substr(20));
  connection.receive("");
  EXPECT_EQ(connection.state(), State::kAsked);
  EXPECT_EQ(connection.request().target, "/x");
  EXPECT_EQ(connection.request().host, "localhost");
}

TEST_F(ConnectionTest, AnEndWithoutARequestIsTheEnd) {
  Connection connection(socket());
  write("GET / HT");
  connection.receive("");
  hang_up();
  connection.receive("");
  EXPECT_EQ(connection.state(), State::kOver);
  EXPECT_EQ(read(1), "");
}

TEST_F(ConnectionTest, AReaderThatTakesNothingIsNotWaitedFor) {
  Connection connection(socket());
  write(kRequest);
  connection.receive("");
  connection.answer({200, "text/plain", std::string(kSize, 'x')}, "");
  std::size_t got = 0;
  for (std::size_t size = 0; connection.state() == State::kAnswering; got += size) {
    EXPECT_GT(connection.held(), kSize);
    size = read(kSize).size();
    ASSERT_GT(size, 0u);
    connection.send("");
  }
  EXPECT_EQ(connection.state(), State::kReading);
  EXPECT_EQ(connection.held(), 0u);
  got += read(kSize).size();
  EXPECT_GT(got, kSize);
}

TEST_F(ConnectionTest, ALongAnswerMayTakeAsLongAsItsBytesDo) {
  Connection connection(socket(), {std::chrono::milliseconds(20), 64});
  write(kRequest);
  connection.receive("");
  connection.answer({200, "text/plain", std::string(kSize, 'x')}, "");
  EXPECT_EQ(connection.until() - connection.since(), std::chrono::milliseconds(20 + kSize / 64));
}

TEST_F(ConnectionTest, TwoRequestsAtOnceAreAnsweredInTheirOrder) {
  Connection connection(socket());
  write(std::string(kRequest) + "GET /y HTTP/1.0\r\n\r\n");
  connection.receive("");
  EXPECT_EQ(connection.request().target, "/x");
  connection.answer({200, "text/plain", "1"}, "");
  EXPECT_EQ(connection.state(), State::kAsked);
  EXPECT_EQ(connection.request().target, "/y");
  connection.answer({404, "text/plain", "2"}, "");
  EXPECT_EQ(connection.state(), State::kOver);
  EXPECT_EQ(read(kSize),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
            "Connection: keep-alive\r\n\r\n1"
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"
            "Connection: close\r\n\r\n2");
}

}  // namespace
}  // namespace timeloom::view
