// Any bytes that a browser may send to the viewer's server, by a socket: every request is answered
// or the connection ends.
//
// The token is "token".
#include <sys/socket.h>

#include "view/connection.hpp"
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
  int stop[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || ::pipe(stop) != 0) std::abort();
  send_all(sockets[1], {reinterpret_cast<const char*>(data), size});
  ::shutdown(sockets[1], SHUT_WR);
  {
    Connection connection(sockets[0], stop[0]);
    while (connection.read_request(served.handler.headers())) {
      const Request request = connection.request();
      Answer answer = served.handler.handle(request);
      if (answer.status != 200 && answer.body.empty()) std::abort();
      if (answer.body.size() > 1000) answer.body.resize(1000);
      if (!connection.answer(answer, served.handler.headers())) break;
      drain(sockets[1]);
    }
  }
  for (const int descriptor : {sockets[1], stop[0], stop[1]}) ::close(descriptor);
  return 0;
}
