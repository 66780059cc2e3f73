// Decides on the answer to a request to the viewer's server: docs/formats/view-http.md. Independent
// of sockets.
//
// Any thread may use a const object. Throws only std::bad_alloc, for any contents of a request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/answers/api.hpp"
#include "view/answers/live_states.hpp"

namespace timeloom::view {

// The parts of a request that are used; a missing header is empty.
struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view host;
  std::string_view origin;
  std::string_view site;   // Sec-Fetch-Site
  std::string_view token;  // X-Timeloom-Token
  std::string_view body;
};

struct Access {
  std::string token;
  std::vector<std::string> hosts;  // allowed in addition to this machine
  bool framed = false;             // pages of the same host may show the page in a frame
};

class RequestHandler {
 public:
  // All arguments outlive this object. REQUIRES: one run, or two for a comparison.
  RequestHandler(std::vector<const Content*> contents, const Access& access, std::string_view page);

  // For a run that is still recorded. All arguments outlive this object.
  RequestHandler(const LiveStates& live, const Access& access, std::string_view page);

  Answer handle(const Request& request) const;
  // Headers of every answer, each ended by a line break.
  const std::string& headers() const noexcept { return headers_; }

 private:
  bool is_allowed(std::string_view host) const;
  Answer answer(std::string_view question, std::string_view body) const;
  Answer live_answer(std::string_view question, std::string_view body) const;

  std::vector<const Content*> contents_;
  const LiveStates* live_ = nullptr;
  const Access& access_;
  std::string_view page_;
  std::string headers_;
};

// A random word for the address of the page. Throws Error when the system provides no random
// numbers.
std::string random_token();

}  // namespace timeloom::view
