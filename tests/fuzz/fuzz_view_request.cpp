// Any bytes that a browser may send to the viewer's server, by a socket: every request is answered
// or the connection ends.
//
// The token is "token".
#include <fcntl.h>
#include <sys/socket.h>

#include "view/server/connection.hpp"
#include "view_run.hpp"

namespace timeloom::view {
namespace {

struct Served {
  Definitions definitions = small_definitions();
  Content content{definitions, [](const Index*) { return std::string("{}"); }};
  Access access{"token", {"hub.example"}, false};
  RequestHandler handler{{&content, &content}, access, "<!doctype html><p>page</p>"};

  Served() {
    content.set_index(small_index(definitions));
    content.set_marks(std::make_shared<const MarksFile>("/proc/none/traces.otf2"));
    content.set_sources(std::make_shared<const SourceFiles>(".", std::vector<std::string>{"/"}));
  }
};

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) return;  // more than a socket holds
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Takes what was answered, so that the next answer finds room.
void drain(int socket) {
  char bytes[4096];
  while (::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
  }
}

}  // namespace
}  // namespace timeloom::view

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace timeloom::view;
  static Served served;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) std::abort();
  send_all(sockets[1], {reinterpret_cast<const char*>(data), size});
  ::shutdown(sockets[1], SHUT_WR);
  if (::fcntl(sockets[0], F_SETFL, O_NONBLOCK) != 0) std::abort();
  const std::string& headers = served.handler.headers();
  {
    Connection connection(sockets[0]);
    while (connection.state() != Connection::State::kOver) {
      if (connection.state() == Connection::State::kReading) {
        connection.receive(headers);
      } else if (connection.state() == Connection::State::kAsked) {
        Answer answer = served.handler.handle(connection.request());
        if (answer.status != 200 && answer.body.empty()) std::abort();
        if (answer.body.size() > 1000) answer.body.resize(1000);
        connection.answer(answer, headers);
      } else {
        connection.send(headers);
      }
      drain(sockets[1]);
    }
  }
  ::close(sockets[1]);
  return 0;
}
