// How long a reader may take for an answer.

#include "view/connection.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

namespace timeloom::view {
namespace {

constexpr std::size_t kSize = 4 << 20;

// Reads all there is in pieces, with a pause after each.
std::size_t read_slowly(int socket, std::chrono::milliseconds pause) {
  std::array<char, 4096> piece{};
  std::size_t all = 0;
  for (;;) {
    const ssize_t size = ::recv(socket, piece.data(), piece.size(), 0);
    if (size <= 0) return all;
    all += static_cast<std::size_t>(size);
    std::this_thread::sleep_for(pause);
  }
}

struct Read {
  bool stays = false;
  std::size_t bytes = 0;
};

Read read_answer(AnswerLimits limits, std::chrono::milliseconds pause) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const int stop = ::eventfd(0, 0);
  const std::string request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(::send(ends[0], request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  Read read;
  std::thread reader([&] { read.bytes = read_slowly(ends[0], pause); });
  {
    Connection connection(ends[1], stop, {}, limits);
    EXPECT_TRUE(connection.read_request(""));
    read.stays = connection.answer({200, "text/plain", std::string(kSize, 'x')}, "");
  }
  reader.join();
  ::close(ends[0]);
  ::close(stop);
  return read;
}

TEST(Connection, AReaderThatTakesTooLongIsLeft) {
  const Read read =
      read_answer({std::chrono::milliseconds(20), kSize}, std::chrono::milliseconds(2));
  EXPECT_FALSE(read.stays);
  EXPECT_LT(read.bytes, kSize);
}

TEST(Connection, ALongAnswerMayTakeAsLongAsItsBytesDo) {
  const Read read = read_answer({std::chrono::milliseconds(20), 64}, std::chrono::milliseconds(0));
  EXPECT_TRUE(read.stays);
  EXPECT_GT(read.bytes, kSize);
}

}  // namespace
}  // namespace timeloom::view
