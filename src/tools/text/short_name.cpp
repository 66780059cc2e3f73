#include "tools/text/short_name.hpp"

#include "tools/text/human_text.hpp"

namespace timeloom::tools {

std::string short_name(const std::string& name, std::size_t width, const Terminal& terminal) {
  if (columns(name) <= width) return name;
  const std::string gap(terminal.ellipsis());
  constexpr std::string_view kLocals = ".<locals>.";
  std::string text = name;
  for (std::size_t at = text.find(kLocals); at != std::string::npos; at = text.find(kLocals)) {
    text.replace(at, kLocals.size(), gap);
  }
  if (columns(text) <= width) return text;
  const std::size_t first = text.find('.');
  if (first == std::string::npos || first == 0) return shorten_left(name, width, terminal);
  const std::string package = text.substr(0, first);
  for (std::size_t dot = text.find('.', first + 1); dot != std::string::npos;
       dot = text.find('.', dot + 1)) {
    std::string shorter = package + gap + text.substr(dot + 1);
    if (text.find('.', dot + 1) == std::string::npos && columns(text.substr(dot)) * 2 < width)
      break;
    if (columns(shorter) <= width) return shorter;
  }
  return shorten_left(text, width, terminal);
}

}  // namespace timeloom::tools
