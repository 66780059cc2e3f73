// Files in the layouts of other tools: the reader accepts every form of the format.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cfloat>

#include "core/error.hpp"
#include "cube_text.hpp"

namespace timeloom::cube {
namespace {

constexpr CubeMetricId kVisitsId{0};
constexpr CubeMetricId kTimeId{1};

std::string with_visits(const std::string& index, const std::string& data,
                        Padding padding = Padding::kTar, const AnchorParts& anchor = {}) {
  return Tar(padding)
      .add("0.data", data)
      .add("0.index", index)
      .add("anchor.xml", anchor.text())
      .end();
}

std::uint64_t count_at(const Values& values, std::uint32_t cnode, std::uint32_t location) {
  std::uint64_t count = 0;
  EXPECT_TRUE(to_count(values.type(), values.at(CnodeId{cnode}, CubeLocationId{location}), count));
  return count;
}

std::vector<std::uint64_t> first_column(const Values& values, std::size_t cnodes) {
  std::vector<std::uint64_t> column;
  for (std::uint32_t i = 0; i < cnodes; ++i) column.push_back(count_at(values, i, 0));
  return column;
}

TEST(CubeReader, ReadsWhatTheAnchorSays) {
  const Reader reader = read_text(Tar().add("anchor.xml", AnchorParts().text()).end());
  const Cube& cube = reader.cube();
  ASSERT_EQ(cube.metrics.size(), 2u);
  EXPECT_EQ(cube.metrics[1].unique_name, "time");
  EXPECT_EQ(cube.metrics[1].kind, MetricKind::kInclusive);
  EXPECT_EQ(cube.regions[0].name, "f <1>");
  EXPECT_EQ(cube.regions[0].file, "a&b.py");
  EXPECT_EQ(cube.regions[0].begin, 3);
  EXPECT_EQ(reader.number_of(CubeRegionId{0}), 7u);
  ASSERT_EQ(cube.cnodes.size(), 6u);
  // In the order of the document: 0 1 3 4 2 5.
  EXPECT_EQ(reader.number_of(CnodeId{2}), 3u);
  EXPECT_EQ(cube.cnodes[2].parent, CnodeId{1});
  EXPECT_EQ(cube.cnodes[3].parameters, (std::vector<CnodeParameter>{{true, "n", "2"}}));
  EXPECT_EQ(reader.number_of(CnodeId{4}), 2u);
  EXPECT_EQ(cube.system_nodes[1].name, "node n1");
  EXPECT_EQ(cube.locations[1].name, "worker");
}

TEST(CubeReader, FindsRowsOfExclusiveMetricsInPreOrder) {
  const std::string file = with_visits(sparse_index({0, 1, 2, 3, 4, 5}), plain_data(counting(12)));
  EXPECT_EQ(first_column(read_text(file).values(kVisitsId), 6),
            (std::vector<std::uint64_t>{1, 3, 5, 7, 9, 11}));
}

TEST(CubeReader, FindsRowsOfInclusiveMetricsInWideOrder) {
  const std::vector<double> values = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6};
  const Reader reader = read_text(Tar()
                                      .add("1.data", plain_data(values))
                                      .add("1.index", dense_index())
                                      .add("anchor.xml", AnchorParts().text())
                                      .end());
  const Values times = reader.values(kTimeId);
  std::vector<double> column;
  for (std::uint32_t i = 0; i < 6; ++i) {
    column.push_back(to_double(times.type(), times.at(CnodeId{i}, CubeLocationId{1})));
  }
  // Rows are in the order of the ids 0 1 2 3 4 5, the document has 0 1 3 4 2 5.
  EXPECT_EQ(column, (std::vector<double>{1, 2, 4, 5, 3, 6}));
}

TEST(CubeReader, FindsRowsOfSimpleMetricsByTheIdsOfTheFile) {
  AnchorParts anchor;
  anchor.metrics =
      R"(<metric id="0" type="SIMPLE"><uniq_name>s</uniq_name><dtype>UINT64</dtype></metric>)";
  const std::string file =
      with_visits(dense_index(), plain_data(counting(12)), Padding::kTar, anchor);
  EXPECT_EQ(first_column(read_text(file).values(kVisitsId), 6),
            (std::vector<std::uint64_t>{1, 3, 7, 9, 5, 11}));
}

TEST(CubeReader, ReadsMissingRowsAsNothing) {
  const std::string file = with_visits(sparse_index({2, 5}), plain_data(counting(4)));
  const Values visits = read_text(file).values(kVisitsId);
  EXPECT_EQ(first_column(visits, 6), (std::vector<std::uint64_t>{0, 0, 1, 0, 0, 3}));
  EXPECT_FALSE(visits.has_row(CnodeId{1}));
  EXPECT_TRUE(visits.has_row(CnodeId{2}));
  const Reader reader = read_text(file);
  EXPECT_FALSE(reader.has_values(kTimeId));
  const Values none = reader.values(kTimeId);
  EXPECT_EQ(to_double(none.type(), none.at(CnodeId{0}, CubeLocationId{0})), 0);
}

TEST(CubeReader, ReadsTheOtherByteOrder) {
  const std::string file = with_visits(sparse_index({0, 3}, true), plain_data(counting(4), true));
  EXPECT_EQ(first_column(read_text(file).values(kVisitsId), 6),
            (std::vector<std::uint64_t>{1, 0, 0, 3, 0, 0}));
}

std::string deflated(const std::string& bytes) {
  std::string out(compressBound(bytes.size()), '\0');
  uLongf size = out.size();
  compress2(reinterpret_cast<Bytef*>(out.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 1);
  return out.substr(0, size);
}

std::string compressed_data(const std::vector<std::string>& rows) {
  std::string head = "ZCUBEX.DATA" + raw(std::uint64_t{rows.size()});
  std::string streams;
  std::uint64_t at = 0;
  for (const std::string& row : rows) {
    const std::string stream = deflated(row);
    head += raw(at) + raw(std::uint64_t{streams.size()}) + raw(std::uint64_t{stream.size()});
    at += row.size();
    streams += stream;
  }
  return head + streams;
}

TEST(CubeReader, ReadsCompressedRows) {
  const auto row = [](std::uint64_t a, std::uint64_t b) { return raw(a) + raw(b); };
  const std::string file =
      with_visits(sparse_index({1, 4}), compressed_data({row(8, 9), row(10, 11)}));
  EXPECT_EQ(first_column(read_text(file).values(kVisitsId), 6),
            (std::vector<std::uint64_t>{0, 8, 0, 0, 10, 0}));
}

std::string gzipped(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

TEST(CubeReader, ReadsACompressedAnchor) {
  const std::string text = gzipped(AnchorParts().text());
  EXPECT_EQ(read_text(Tar().add("anchor.xml", text).end()).cube().cnodes.size(), 6u);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_THROW(read_text(Tar().add("anchor.xml", text.substr(0, i)).end()), Error) << i;
  }
  const std::string bomb =
      gzipped("<?xml version=\"1.0\"?><cube version=\"4.4\">" + std::string(8 << 20, ' '));
  try {
    read_text(Tar().add("anchor.xml", bomb).end());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("far longer"), std::string::npos) << error.what();
  }
}

TEST(CubeReader, TakesThePaddingOfTarAndThatOfCube) {
  for (const Padding padding : {Padding::kTar, Padding::kCube}) {
    AnchorParts anchor;
    anchor.head += "<!--" + std::string(512 - (anchor.text().size() + 7) % 512, 'x') + "-->";
    ASSERT_EQ(anchor.text().size() % 512, 0u);
    const std::string file = Tar(padding)
                                 .add("empty", "")
                                 .add("anchor.xml", anchor.text())
                                 .add("0.data", plain_data(counting(2)))
                                 .add("0.index", sparse_index({5}))
                                 .end();
    EXPECT_EQ(count_at(read_text(file).values(kVisitsId), 5, 1), 2u);
  }
}

TEST(CubeReader, TakesPaxHeaders) {
  const std::string text = AnchorParts().text();
  const std::string record = "18 path=anchor.xml\n";
  std::string size = " size=" + std::to_string(text.size()) + "\n";
  size = std::to_string(size.size() + 2) + size;
  std::string file = Tar().add("g", "13 comment=x\n", 'g').open() +
                     Tar().add("pax", "19 path=anchor.xml\n" + size, 'x').open();
  std::string member = Tar().add("long", text).open();
  member.replace(124, 11, "00000000000");
  EXPECT_EQ(read_text(file + member + std::string(1024, '\0')).cube().regions.size(), 1u);
}

TEST(CubeReader, ReadsTheWordsOfOlderVersions) {
  AnchorParts anchor;
  anchor.version = "4.1";
  anchor.system =
      R"(<machine Id="0"><name>box</name><node Id="0"><name>n1</name>)"
      R"(<process Id="0"><name>p</name><rank>0</rank>)"
      R"(<thread Id="0"><name>t</name><rank>0</rank></thread></process></node></machine>)";
  const Reader reader = read_text(Tar().add("anchor.xml", anchor.text()).end());
  EXPECT_EQ(reader.cube().system_nodes[1].kind, "node");
  EXPECT_EQ(reader.cube().groups[0].node, SystemNodeId{1});
  EXPECT_EQ(reader.cube().locations[0].name, "t");
}

TEST(CubeReader, PassesOverElementsItDoesNotKnow) {
  AnchorParts anchor;
  anchor.system +=
      "<topologies><cart name=\"a\"><coord locId=\"0\">0 0</coord></cart></topologies>";
  anchor.regions += "<novelty><name>no region</name><attr key=\"a\" value=\"b\"/></novelty>";
  const Reader reader = read_text(Tar().add("anchor.xml", anchor.text()).end());
  EXPECT_EQ(reader.cube().regions.size(), 1u);
  EXPECT_TRUE(reader.cube().attributes.empty());
}

}  // namespace
}  // namespace timeloom::cube
