#include "view/server/request_handler.hpp"

#include <sys/random.h>
#include <cerrno>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <utility>

namespace timeloom::view {

namespace {

Answer refusal(unsigned status, const char* reason) {
  return {status, "text/plain; charset=utf-8", std::string(reason) + "\n"};
}

// Takes the same time for every word of a length, so that the time does not help to guess it.
bool equal_words(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

bool is_port(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 5 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The name in "name", "name:port" or "[address]:port"; empty for any other form.
std::string_view name_of_host(std::string_view host) noexcept {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return {};
  const std::size_t colon = host.find(':', bracket);
  if (colon == std::string_view::npos) return host;
  return is_port(host.substr(colon + 1)) ? host.substr(0, colon) : std::string_view();
}

// True if a page of this origin came from this host and port.
bool is_of_host(std::string_view origin, std::string_view host) noexcept {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size()) == host;
  }
  return false;
}

// The policy in the page itself, which contains the hashes of its script and style. Without a
// policy the page may not run scripts.
std::string policy_of(std::string_view page, bool framed) {
  constexpr std::string_view kBefore = "http-equiv=\"Content-Security-Policy\" content=\"";
  const std::size_t begin = page.find(kBefore);
  std::string policy = "default-src 'none'";
  if (begin != std::string_view::npos) {
    const std::size_t from = begin + kBefore.size();
    policy = page.substr(from, page.find('"', from) - from);
    std::erase_if(policy, [](char c) { return c < ' ' || c > '~'; });
  }
  return policy + (framed ? "; frame-ancestors 'self'" : "; frame-ancestors 'none'");
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 32> bytes{};
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::getrandom(bytes.data() + at, bytes.size() - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error("the system gives no random numbers [TL505]");
    at += static_cast<std::size_t>(got);
  }
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string token;
  unsigned held = 0, bits = 0;
  for (const unsigned char byte : bytes) {
    held = held << 8 | byte;
    for (bits += 8; bits >= 6; bits -= 6) token += kDigits[held >> (bits - 6) & 63];
  }
  return token;
}

RequestHandler::RequestHandler(std::vector<const Content*> contents, const Access& access,
                               std::string_view page)
    : contents_(std::move(contents)), access_(access), page_(page) {
  headers_ = "Content-Security-Policy: " + policy_of(page, access.framed) +
             "\r\n"
             "X-Content-Type-Options: nosniff\r\n"
             "Referrer-Policy: no-referrer\r\n"
             "Cross-Origin-Opener-Policy: same-origin\r\n"
             "Cross-Origin-Resource-Policy: same-origin\r\n"
             "Cache-Control: no-store\r\n";
}

RequestHandler::RequestHandler(const LiveStates& live, const Access& access, std::string_view page)
    : RequestHandler(std::vector<const Content*>{}, access, page) {
  live_ = &live;
}

bool RequestHandler::is_allowed(std::string_view host) const {
  const std::string_view name = name_of_host(host);
  constexpr std::array<std::string_view, 3> kThisMachine = {"localhost", "127.0.0.1", "[::1]"};
  if (name.empty()) return false;
  return std::ranges::find(kThisMachine, name) != kThisMachine.end() ||
         std::ranges::find(access_.hosts, name) != access_.hosts.end();
}

// `@NUMBER/QUESTION` asks for a state of a run that is still recorded.
Answer RequestHandler::live_answer(std::string_view question, std::string_view body) const {
  if (question == "live") {
    return {200, "application/json", live_->describe(LiveStates::Clock::now())};
  }
  const std::size_t slash = question.find('/');
  std::uint64_t number = 0;
  const char* const begin = question.data() + 1;
  const bool named = question.starts_with('@') && slash != std::string_view::npos;
  if (!named) return refusal(404, "this run is still recorded: name one of its states");
  const auto [end, error] = std::from_chars(begin, question.data() + slash, number);
  if (error != std::errc() || end != question.data() + slash) {
    return refusal(404, "there is no such state");
  }
  const std::shared_ptr<const Content> content = live_->at(number);
  if (!content) return refusal(410, "this state of the run is not kept any more");
  return answer_question(*content, question.substr(slash + 1), body);
}

Answer RequestHandler::answer(std::string_view question, std::string_view body) const {
  if (question == "runs" || (live_ != nullptr && question == "live")) {
    if (!body.empty()) return refusal(400, "the question is longer than its fields");
  }
  if (question == "runs") {
    const std::string runs = std::to_string(live_ != nullptr ? 1 : contents_.size());
    return {200, "application/json",
            "{\"runs\": " + runs + (live_ != nullptr ? ", \"live\": true}" : "}")};
  }
  if (live_ != nullptr) return live_answer(question, body);
  constexpr std::string_view kSecond = "2/";
  if (!question.starts_with(kSecond)) return answer_question(*contents_[0], question, body);
  if (contents_.size() < 2) return refusal(404, "there is one run only");
  return answer_question(*contents_[1], question.substr(kSecond.size()), body);
}

Answer RequestHandler::handle(const Request& request) const {
  if (!is_allowed(request.host)) {
    return refusal(403, "this host is not allowed; see --allow-host");
  }
  if (!request.origin.empty() && !is_of_host(request.origin, request.host)) {
    return refusal(403, "a page of another origin asks");
  }
  const std::string_view target = request.target.substr(0, request.target.find('?'));
  constexpr std::string_view kPrefix = "/api/";
  if (target.starts_with(kPrefix)) {
    if (!request.site.empty() && request.site != "same-origin" && request.site != "none") {
      return refusal(403, "a page of another site asks");
    }
    if (request.method != "POST") return refusal(405, "questions are POST");
    if (!equal_words(request.token, access_.token)) {
      return refusal(401, "the token is missing or wrong: open the address that timeloom printed");
    }
    return answer(target.substr(kPrefix.size()), request.body);
  }
  if (target != "/") return refusal(404, "there is only the page");
  if (request.method != "GET") return refusal(405, "the page is for GET");
  return {200, "text/html; charset=utf-8", std::string(page_)};
}

}  // namespace timeloom::view
