// Every defect of a file gives an error of one line, and nothing crashes.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "cube_text.hpp"
#include "formats/cube/cube_profile.hpp"
#include "support/bytes.hpp"
#include "support/temp_directory.hpp"

namespace timeloom::cube {
namespace {

const std::filesystem::path kData = TIMELOOM_TEST_DATA;

// The error for the file; empty: it was read.
std::string complaint(const std::string& text) {
  try {
    const Reader reader = read_text(text);
    for (std::uint32_t i = 0; i < reader.cube().metrics.size(); ++i) {
      static_cast<void>(reader.values(CubeMetricId{i}));
    }
    return {};
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos);
    EXPECT_TRUE(what.starts_with("test.cubex cannot be read as a CUBE4 profile: ")) << what;
    return what.substr(what.find(": ") + 2);
  }
}

std::string of_anchor(const AnchorParts& anchor) {
  return complaint(Tar().add("anchor.xml", anchor.text()).end());
}

std::string of_values(const std::string& index, const std::string& data) {
  return complaint(Tar()
                       .add("0.data", data)
                       .add("0.index", index)
                       .add("anchor.xml", AnchorParts().text())
                       .end());
}

bool says(const std::string& complaint, const std::string& part) {
  EXPECT_NE(complaint.find(part), std::string::npos) << "'" << complaint << "' without " << part;
  return complaint.find(part) != std::string::npos;
}

TEST(CubeDamage, IsFoundInTheArchive) {
  says(complaint(""), "not a tar archive");
  says(complaint(std::string(5000, 'x')), "not a tar archive");
  says(complaint(std::string(1024, '\0')), "no anchor.xml");
  says(complaint(Tar().add("other", "x").end()), "no anchor.xml");
  const std::string anchor = AnchorParts().text();
  says(complaint(Tar().add("anchor.xml", anchor).open()), "cut off");
  says(complaint(Tar().add("anchor.xml", anchor).open() + std::string(512, 'x')),
       "another member does not follow");
  says(complaint(Tar().add("anchor.xml", anchor).add("anchor.xml", anchor).end()), "twice");
  says(complaint(Tar().add("anchor.xml", anchor, '2').end()), "not a plain file");
  for (const char* name : {"../anchor.xml", "/etc/passwd", "a/../../b", ".."}) {
    says(complaint(Tar().add(name, "x").add("anchor.xml", anchor).end()), "leaves the archive");
  }
}

TEST(CubeDamage, IsFoundInTheAnchor) {
  AnchorParts good;
  EXPECT_EQ(of_anchor(good), "");
  const auto with = [](auto change) {
    AnchorParts anchor;
    change(anchor);
    return of_anchor(anchor);
  };
  says(with([](auto& a) { a.version = "3.0"; }), "version '3.0'");
  says(with([](auto& a) { a.metrics = ""; }), "no metric");
  says(with([](auto& a) { a.regions = a.cnodes = ""; }), "no region");
  says(with([](auto& a) { a.cnodes = ""; }), "no call path");
  says(with([](auto& a) { a.system = ""; }), "no location");
  says(with([](auto& a) { a.cnodes += "<cnode id=\"6\" calleeId=\"8\"/>"; }),
       "region 8, which is missing");
  says(with([](auto& a) { a.regions += a.regions; }), "two regions have the id 7");
  says(with([](auto& a) { a.metrics += a.metrics; }), "two metrics are called 'visits'");
  says(with([](auto& a) { a.cnodes = "<cnode id=\"1\" calleeId=\"7\"/>"; }), "has the id 1");
  says(with([](auto& a) { a.cnodes += "<cnode id=\"2\" calleeId=\"7\"/>"; }), "have the id 2");
  says(with([](auto& a) { a.cnodes = "<cnode id=\"-1\" calleeId=\"7\"/>"; }), "not a number");
  says(with([](auto& a) { a.cnodes = "<cnode calleeId=\"7\"/>"; }), "has no id");
  says(with([](auto& a) { a.cnodes = "<cnode id=\"0\"/>"; }), "calleeId");
  says(with([](auto& a) { a.metrics.replace(a.metrics.find("UINT64"), 6, "UINT65"); }),
       "data type 'UINT65' is not known");
  says(with([](auto& a) { a.metrics.replace(a.metrics.find("EXCLUSIVE"), 9, "SIDEWAYS"); }),
       "metric type 'SIDEWAYS'");
  says(with([](auto& a) {
         a.system.replace(a.system.find("<location Id=\"1\""), 16, "<location Id=\"2\"");
       }),
       "not numbered from 0");
  says(with([](auto& a) { a.cnodes += "<cnode>"; }), "");
  says(with([](auto& a) { a.head = "<html>"; }), "instead of <cube>");
  const std::string text = good.text();
  for (std::size_t i = 0; i < text.size() - 1; ++i) {
    EXPECT_NE(complaint(Tar().add("anchor.xml", text.substr(0, i)).end()), "") << i;
  }
}

TEST(CubeDamage, NeedsNoEntities) {
  AnchorParts anchor;
  anchor.head +=
      "<!DOCTYPE cube [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;\">]>";
  anchor.regions.insert(anchor.regions.find("<name>") + 6, "&c;");
  says(of_anchor(anchor), "document type");
  anchor = {};
  anchor.head += "<!DOCTYPE cube SYSTEM \"file:///etc/passwd\">";
  says(of_anchor(anchor), "document type");
}

TEST(CubeDamage, IsFoundInTheIndex) {
  const std::string data = plain_data(counting(4));
  EXPECT_EQ(of_values(sparse_index({0, 1}), data), "");
  says(of_values("", data), "0.index");
  says(of_values("CUBEX.INDEX", data), "as an index does");
  says(of_values("CUBEX.OTHER" + sparse_index({0}).substr(11), data), "as an index does");
  std::string index = sparse_index({0, 1});
  index[11] = 2;
  says(of_values(index, data), "byte order");
  index = sparse_index({0, 1});
  index[17] = 2;
  says(of_values(index, data), "form is unknown");
  index = sparse_index({0, 1});
  says(of_values(index.substr(0, index.size() - 1), data), "cut off");
  index[18] = index[19] = index[20] = index[21] = '\xff';
  says(of_values(index, data), "cut off");
  says(of_values(sparse_index({1, 0}), data), "not in order");
  says(of_values(sparse_index({1, 1}), data), "not in order");
  says(of_values(sparse_index({0, 6}), data), "no call path");
}

TEST(CubeDamage, IsFoundInTheValues) {
  const std::string index = sparse_index({0, 1});
  says(of_values(index, ""), "0.data");
  says(of_values(index, "CUBEX.ATAD" + std::string(32, 'x')), "as values do");
  says(of_values(index, plain_data(counting(3))), "too short");
  says(of_values(dense_index(), plain_data(counting(11))), "too short");
  const std::string anchor = AnchorParts().text();
  says(complaint(Tar().add("0.data", "x").add("anchor.xml", anchor).end()), "missing");
  says(complaint(Tar().add("0.index", index).add("anchor.xml", anchor).end()), "missing");
  const std::string count = raw(std::uint64_t{2});
  says(of_values(index, "ZCUBEX.DATA"), "");
  says(of_values(index, "ZCUBEX.DATA" + raw(std::uint64_t{3}) + std::string(99, 'x')), "index");
  says(of_values(index, "ZCUBEX.DATA" + count + std::string(47, '\0')), "cut off");
  // One row: with defects in two rows, which are read in parallel, either may be reported.
  const std::string one_row = "ZCUBEX.DATA" + raw(std::uint64_t{1}) + std::string(16, '\0');
  const auto of_row = [&](std::uint64_t size) {
    return of_values(sparse_index({0}), one_row + raw(size) + std::string(28, '\0'));
  };
  says(of_row(~std::uint64_t{0}), "cut off");
  says(of_row(4), "compressed row");
}

TEST(CubeDamage, IsFoundInARealFileAtEveryByte) {
  const std::string whole = test::read_bytes(kData / "scorep-fib" / "profile.cubex");
  // The first member is as long as all others together and is not read.
  const std::size_t begin = whole.find("1.data") - 1024;
  for (std::size_t i = begin; i + 1024 < whole.size(); i += 97) {
    EXPECT_NE(complaint(whole.substr(0, i)), "") << i;
  }
  for (std::size_t i = begin; i < whole.size(); i += 5) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    try {
      static_cast<void>(load(read_text(damaged)));
    } catch (const Error&) {
      // reported clearly
    }
  }
}

TEST(CubeDamage, IsFoundInProfiles) {
  const auto of_profile = [](const Tar& tar) -> std::string {
    try {
      static_cast<void>(load(read_text(tar.end())));
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  };
  const std::string anchor = AnchorParts().text();
  says(of_profile(Tar().add("anchor.xml", anchor)), "'visits'");
  Tar only_visits = Tar()
                        .add("0.data", plain_data(counting(2)))
                        .add("0.index", sparse_index({0}))
                        .add("anchor.xml", anchor);
  says(of_profile(only_visits), "'time'");
  for (const double time : {0.0 / 0.0 * -1, -1e300, 1e300, 1.0 / 0.0}) {
    says(of_profile(Tar()
                        .add("0.data", plain_data(counting(2)))
                        .add("0.index", sparse_index({0}))
                        .add("1.data", plain_data(std::vector<double>{time, 0}))
                        .add("1.index", sparse_index({0}))
                        .add("anchor.xml", anchor)),
         "'time' that cannot be [TL313]");
  }
}

TEST(CubeDamage, OfPlacesIsSaid) {
  const test::TempDirectory directory;
  EXPECT_THROW(Reader(directory.path() / "none.cubex"), Error);
  EXPECT_THROW(Reader{directory.path()}, Error);
  EXPECT_THROW(write(Cube{}, {}, directory.path() / "none" / "a.cubex"), Error);
}

}  // namespace
}  // namespace timeloom::cube
