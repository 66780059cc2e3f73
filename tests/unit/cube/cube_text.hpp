// Small CUBE files for tests, built part by part so that each part can be damaged.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "formats/cube/cube.hpp"

namespace timeloom::cube {

template <typename Number>
std::string raw(Number number, bool swapped = false) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return swapped ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

inline std::string sparse_index(const std::vector<std::uint32_t>& rows, bool swapped = false) {
  std::string text = "CUBEX.INDEX" + raw(std::uint32_t{1}, swapped) +
                     raw(std::uint16_t{0}, swapped) + '\x01' +
                     raw(static_cast<std::uint32_t>(rows.size()), swapped);
  for (const std::uint32_t row : rows) text += raw(row, swapped);
  return text;
}

inline std::string dense_index() {
  return "CUBEX.INDEX" + raw(std::uint32_t{1}) + raw(std::uint16_t{0}) + '\x03';
}

template <typename Number>
std::string plain_data(const std::vector<Number>& values, bool swapped = false) {
  std::string text = "CUBEX.DATA";
  for (const Number value : values) text += raw(value, swapped);
  return text;
}

inline std::string tar_header(const std::string& name, std::uint64_t size, char type = '0') {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char digits[13];
  std::snprintf(digits, sizeof digits, "%011llo", static_cast<unsigned long long>(size));
  header.replace(124, 12, digits, 12);
  header[156] = type;
  header.replace(257, 8,
                 std::string("ustar\0"
                             "00",
                             8));
  return header;
}

enum class Padding { kTar, kCube };

// A tar archive of these members; `padding` follows a size that is a multiple of 512.
class Tar {
 public:
  explicit Tar(Padding padding = Padding::kTar) : padding_(padding) {}
  Tar& add(const std::string& name, const std::string& content, char type = '0') {
    text_ += tar_header(name, content.size(), type) + content;
    std::size_t more = (512 - content.size() % 512) % 512;
    if (more == 0 && padding_ == Padding::kCube && !content.empty()) more = 512;
    text_.append(more, '\0');
    return *this;
  }
  std::string end() const { return text_ + std::string(1024, '\0'); }
  const std::string& open() const { return text_; }

 private:
  Padding padding_;
  std::string text_;
};

inline Reader read_text(const std::string& text) {
  return Reader(std::make_unique<std::istringstream>(text), "test.cubex");
}

// The tree of the specification, 0 -> (1 -> (3, 4), 2 -> (5)), with ids in another order than the
// document.
inline const std::string kTreeOfSix =
    R"(<cnode id="0" calleeId="7">
<cnode id="1" calleeId="7">
<cnode id="3" calleeId="7"></cnode><cnode id="4" calleeId="7">
<parameter partype="numeric" parkey="n" parvalue="2" /></cnode>
</cnode>
<cnode id="2" calleeId="7"><cnode id="5" calleeId="7"></cnode></cnode></cnode>)";

struct AnchorParts {
  std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\n";
  std::string version = "4.4";
  std::string metrics =
      R"(<metric id="0" type="EXCLUSIVE"><disp_name>Visits</disp_name><uniq_name>visits</uniq_name>)"
      R"(<dtype>UINT64</dtype></metric>)"
      R"(<metric id="1" type="INCLUSIVE"><disp_name>Time</disp_name><uniq_name>time</uniq_name>)"
      R"(<dtype>DOUBLE</dtype></metric>)";
  std::string regions =
      R"(<region id="7" mod="a&amp;b.py" begin="3" end="-1"><name>f &lt;1&gt;</name>)"
      R"(<mangled_name>f</mangled_name><paradigm>user:m</paradigm><role>function</role></region>)";
  std::string cnodes = kTreeOfSix;
  std::string system =
      R"(<systemtreenode Id="0"><name>machine Linux</name><class>machine</class>)"
      R"(<systemtreenode Id="1"><name>node n1</name><class>node</class>)"
      R"(<locationgroup Id="0"><name>Process</name><rank>0</rank><type>process</type>)"
      R"(<location Id="0"><name>Master thread</name><rank>0</rank><type>thread</type></location>)"
      R"(<location Id="1"><name>worker</name><rank>1</rank><type>thread</type></location>)"
      R"(</locationgroup></systemtreenode></systemtreenode>)";

  std::string text() const {
    return head + "<cube version=\"" + version + "\">\n<metrics>" + metrics +
           "</metrics>\n<program>" + regions + cnodes + "</program>\n<system>" + system +
           "</system>\n</cube>\n";
  }
};

inline std::vector<std::uint64_t> counting(std::size_t count) {
  std::vector<std::uint64_t> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = i + 1;
  return values;
}

}  // namespace timeloom::cube
