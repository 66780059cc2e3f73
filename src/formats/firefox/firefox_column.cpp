#include "formats/firefox/firefox_column.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"
#include "exchange/format_text.hpp"

namespace timeloom::firefox {

namespace {
constexpr std::size_t kInMemory = 1 << 18;

[[noreturn]] void fail() {
  throw Error(std::string("cannot write a temporary file: ") + std::strerror(errno) + " [TL307]");
}
}  // namespace

void Column::add(std::string_view json) {
  if (size_++ > 0) text_ += ',';
  text_ += json;
  if (text_.size() >= kInMemory) spill();
}

void Column::add_number(std::uint64_t number) {
  if (size_++ > 0) text_ += ',';
  exchange::append_number(text_, number);
  if (text_.size() >= kInMemory) spill();
}

void Column::add_time(std::uint64_t nanoseconds) {
  std::string text = std::to_string(nanoseconds / 1'000'000);
  const std::string rest = std::to_string(nanoseconds % 1'000'000);
  if (rest != "0") text += "." + std::string(6 - rest.size(), '0') + rest;
  add(text);
}

void Column::spill() {
  if (!file_) file_.reset(std::tmpfile());
  if (!file_ || std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size()) fail();
  text_.clear();
}

void Column::write(std::string_view name, exchange::Destination& out) {
  std::string head;
  exchange::append_json(head, name);
  out.write(head + ":[");
  if (file_) {
    if (std::fflush(file_.get()) != 0) fail();
    std::rewind(file_.get());
    std::array<char, 1 << 16> piece;
    while (const std::size_t read = std::fread(piece.data(), 1, piece.size(), file_.get())) {
      out.write({piece.data(), read});
    }
    if (std::ferror(file_.get()) != 0) fail();
  }
  out.write(text_ + "]");
}

}  // namespace timeloom::firefox
