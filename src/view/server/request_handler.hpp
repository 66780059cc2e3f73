// Decides what a request to the viewer's server gets: docs/formats/view-http.md. It knows nothing
// of sockets.
//
// Any thread may use a const object. Nothing is thrown but what memory can, whatever the request
// holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/answers/api.hpp"

namespace timeloom::view {

// The parts of a request that matter; a header that is not there is empty.
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
  std::vector<std::string> hosts;  // that are allowed besides this machine itself
  bool framed = false;             // other pages of the same host may show the page in a frame
};

class RequestHandler {
 public:
  // All of it outlives this object. REQUIRES: one run, or two to be compared.
  RequestHandler(std::vector<const Content*> contents, const Access& access, std::string_view page);

  Answer handle(const Request& request) const;
  // Headers that every answer has, each ended by a line break.
  const std::string& headers() const noexcept { return headers_; }

 private:
  bool is_allowed(std::string_view host) const;
  Answer answer(std::string_view question, std::string_view body) const;

  std::vector<const Content*> contents_;
  const Access& access_;
  std::string_view page_;
  std::string headers_;
};

// A random word for the address of the page. Throws Error when the system has none.
std::string random_token();

}  // namespace timeloom::view
