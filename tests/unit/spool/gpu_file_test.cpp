// The file `gpu` of a spool: written, read, cut and damaged.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../support/temp_directory.hpp"
#include "spool/gpu_reader.hpp"
#include "spool/gpu_writer.hpp"

namespace timeloom::spool {
namespace {

GpuLaunch launch_of(std::uint32_t blocks) {
  return {0, 0, {blocks, 1, 1}, {64, 1, 1}, 32, 0, 0, 0};
}

// Two batches: a call, two kernels in two queues and one more after a loss, and a copy.
std::string written_gpu_file(const std::filesystem::path& directory, bool packs = false) {
  int error = 0;
  const auto writer = GpuWriter::create(directory.string(), &error, packs);
  EXPECT_EQ(error, 0);
  writer->device(0, "H100", 80);
  const std::uint32_t thread = writer->thread(41);
  const std::uint32_t call = writer->text("cudaLaunchKernel");
  const std::uint32_t queue = writer->queue(0, 1, 7);
  std::string name = "plain";
  const std::uint32_t small = writer->launch(name.c_str(), launch_of(4));
  EXPECT_EQ(writer->launch(name.c_str(), launch_of(4)), small);
  EXPECT_NE(writer->launch(name.c_str(), launch_of(8)), small);
  writer->add({10, 20, thread, 1, GpuRecord::word(GpuRecordKind::kCall, call)});
  writer->add({30, 40, queue, 1, GpuRecord::word(GpuRecordKind::kKernel, small)});
  writer->flush();
  name = "other";  // at the address of a module that was unloaded
  const std::uint32_t other = writer->launch(name.c_str(), launch_of(4));
  EXPECT_NE(other, small);
  writer->add({50, 60, writer->queue(0, 1, 8), 2, GpuRecord::word(GpuRecordKind::kKernel, other)});
  writer->add({70, 0, queue, 3, GpuRecord::word(GpuRecordKind::kCopy, 4096, 0x11)});
  writer->add_lost(5);
  writer->leave(99);
  writer->flush();
  EXPECT_EQ(writer->error(), 0);
  std::ifstream file(directory / kGpuFile, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

GpuData read_gpu_bytes(const std::filesystem::path& directory, const std::string& bytes) {
  std::ofstream(directory / kGpuFile, std::ios::binary) << bytes;
  return read_gpu(SpoolDirectory(directory));
}

TEST(GpuFile, HasWhatWasWritten) {
  const test::TempDirectory directory;
  (void)written_gpu_file(directory.path());
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  EXPECT_FALSE(data.damaged);
  EXPECT_TRUE(data.left);
  EXPECT_EQ(data.lost, 5u);
  ASSERT_EQ(data.devices.size(), 1u);
  EXPECT_EQ(data.devices[0].name, "H100");
  EXPECT_EQ(data.texts, (std::vector<std::string>{"H100", "cudaLaunchKernel", "plain", "other"}));
  ASSERT_EQ(data.places.size(), 3u);
  EXPECT_EQ(data.places[0].thread, 41u);
  EXPECT_EQ(data.places[2].queue, 8u);
  ASSERT_EQ(data.launches.size(), 3u);
  EXPECT_EQ(data.launches[1].grid[0], 8u);
  ASSERT_EQ(data.records.size(), 4u);
  EXPECT_EQ(data.texts[data.launches[data.records[2].value()].name], "other");
  EXPECT_EQ(data.records[3].kind(), GpuRecordKind::kCopy);
  EXPECT_EQ(data.records[3].detail(), 0x11);
  EXPECT_EQ(data.records[3].value(), 4096u);
  EXPECT_EQ(data.records[3].end, 0u);
}

// As a program makes them: calls on a thread, each with a kernel in one of two queues.
std::vector<GpuRecord> many_records(std::uint32_t thread, std::uint32_t first_queue) {
  std::vector<GpuRecord> records;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const std::uint64_t at = 1'000'000 + 20'000 * std::uint64_t{i};
    records.push_back(
        {at, at + 4'000 + i % 7, thread, i, GpuRecord::word(GpuRecordKind::kCall, 0)});
    records.push_back({at + 9'000, i % 100 == 0 ? 0 : at + 15'000 + i % 13, first_queue + i % 2, i,
                       GpuRecord::word(GpuRecordKind::kCopy, 4096 * (i % 3), 0x11)});
  }
  return records;
}

TEST(GpuFile, HasTheSameRecordsPacked) {
  std::vector<GpuData> data;
  std::vector<std::uintmax_t> sizes;
  for (const bool packs : {false, true}) {
    const test::TempDirectory directory;
    int error = 0;
    const auto writer = GpuWriter::create(directory.path().string(), &error, packs);
    (void)writer->text("cudaMemcpyAsync");
    const std::uint32_t thread = writer->thread(41), queue = writer->queue(0, 1, 7);
    (void)writer->queue(0, 1, 8);
    for (const GpuRecord& record : many_records(thread, queue)) writer->add(record);
    writer->flush();
    writer->add({1, 2, thread, 3, GpuRecord::word(GpuRecordKind::kCall, 0)});  // stays as it is
    writer->flush();
    data.push_back(read_gpu(SpoolDirectory(directory.path())));
    sizes.push_back(std::filesystem::file_size(directory.path() / kGpuFile));
    EXPECT_FALSE(data.back().damaged);
    EXPECT_EQ(data.back().lost, 0u);
  }
  ASSERT_EQ(data[0].records.size(), 10'001u);
  ASSERT_EQ(data[1].records.size(), 10'001u);
  EXPECT_EQ(std::memcmp(data[0].records.data(), data[1].records.data(), 10'001 * sizeof(GpuRecord)),
            0);
  EXPECT_LT(8 * sizes[1], sizes[0]);
  RecordProperty("bytes_a_record_packed", std::to_string(double(sizes[1]) / 10'001));
}

TEST(GpuFile, IsReadUpToWhereItIsCut) {
  const test::TempDirectory directory;
  const std::string whole = written_gpu_file(directory.path());
  std::size_t records = 0;
  for (std::size_t length = 0; length < whole.size(); length += 5) {
    const GpuData data = read_gpu_bytes(directory.path(), whole.substr(0, length));
    EXPECT_GE(data.records.size(), records) << length;
    records = data.records.size();
  }
  EXPECT_EQ(records, 4u);
}

// A block with a changed byte is left out with everything behind it; earlier data stay.
TEST(GpuFile, GivesNoRecordThatWasChanged) {
  const test::TempDirectory directory;
  const std::string whole = written_gpu_file(directory.path());
  const GpuData sound = read_gpu_bytes(directory.path(), whole);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    const GpuData data = read_gpu_bytes(directory.path(), changed);
    EXPECT_TRUE(data.damaged) << i;
    ASSERT_LE(data.records.size(), sound.records.size());
    for (std::size_t r = 0; r < data.records.size(); ++r) {
      EXPECT_EQ(data.records[r].start, sound.records[r].start) << i;
      EXPECT_EQ(data.records[r].what, sound.records[r].what) << i;
    }
  }
}

TEST(GpuFile, CountsWhatHasNoDefinitionBesideWhatWasLost) {
  const test::TempDirectory directory;
  int error = 0;
  const auto writer = GpuWriter::create(directory.path().string(), &error);
  ASSERT_EQ(error, 0);
  for (int i = 0; i < 2; ++i) {
    writer->add({10, 20, 77, 1, GpuRecord::word(GpuRecordKind::kCopy, 1)});
    writer->add_lost(5);
    EXPECT_EQ(writer->flush(), 0u);
  }
  EXPECT_EQ(read_gpu(SpoolDirectory(directory.path())).lost, 12u);
}

// The file has the first batch and nothing of the others, which flush() counts.
TEST(GpuFile, HasLabelsOfRanges) {
  const test::TempDirectory directory;
  {
    int error = 0;
    const auto writer = GpuWriter::create(directory.path().string(), &error);
    EXPECT_EQ(writer->label("", ""), 0u);
    const std::uint32_t both = writer->label("domain", "category");
    const std::uint32_t one = writer->label("", "category");
    EXPECT_EQ(writer->label("domain", "category"), both);
    const auto add = [&](std::uint32_t label) {
      writer->add({10, 20, writer->thread(41), label,
                   GpuRecord::word(GpuRecordKind::kRange, writer->text("range"))});
    };
    for (const std::uint32_t label : {0u, both, one, one + 1}) add(label);
    writer->flush();
  }
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  ASSERT_EQ(data.records.size(), 3u);
  EXPECT_EQ(data.lost, 1u);  // of a label that is not defined
  const GpuLabel& both = data.labels[data.records[1].correlation - 1];
  const GpuLabel& one = data.labels[data.records[2].correlation - 1];
  EXPECT_EQ(data.texts[both.domain] + ", " + data.texts[both.category], "domain, category");
  EXPECT_EQ(one.domain, kGpuNone);
  EXPECT_EQ(data.texts[one.category], "category");
}

TEST(GpuFile, HasCountersOfDevicesOnly) {
  const test::TempDirectory directory;
  {
    int error = 0;
    const auto writer = GpuWriter::create(directory.path().string(), &error);
    const std::uint32_t queue = writer->queue(0, 1, 7);
    const std::uint32_t device = writer->device_place(3);
    EXPECT_EQ(writer->device_place(3), device);
    const auto counter = [](std::uint8_t detail) {
      return GpuRecord::word(GpuRecordKind::kCounter, 250, detail);
    };
    writer->add({10, 0, device, 0, counter(3)});
    writer->add({20, 0, device, 0, counter(kGpuCounters)});
    writer->add({30, 0, queue, 0, counter(3)});
    writer->add({40, 50, device, 0, GpuRecord::word(GpuRecordKind::kCopy, 8)});
    writer->flush();
  }
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  ASSERT_EQ(data.records.size(), 1u);
  EXPECT_EQ(data.records[0].last_ticks(), 10u);
  EXPECT_EQ(data.places[data.records[0].place].device, 3u);
  EXPECT_EQ(data.lost, 3u);
}

TEST(GpuFile, EndsWhereTheDiskIsFull) {
  const test::TempDirectory directory;
  int error = 0;
  const auto writer = GpuWriter::create(directory.path().string(), &error);
  ASSERT_EQ(error, 0);
  const std::uint32_t queue = writer->queue(0, 1, 7);
  const GpuRecord copy{10, 20, queue, 1, GpuRecord::word(GpuRecordKind::kCopy, 1)};
  writer->add(copy);
  EXPECT_EQ(writer->flush(), 0u);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 200; ++i) writer->add(copy);
  writer->add_lost(3);
  const std::uint64_t first = writer->flush();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(first, 203u);
  EXPECT_EQ(writer->error(), EFBIG);
  writer->add(copy);
  EXPECT_EQ(writer->flush(), 1u);
  EXPECT_EQ(writer->flush(), 0u);
  EXPECT_EQ(writer->lost(), 204u);
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.records.size(), 1u);
  EXPECT_EQ(data.lost, 0u);
}

TEST(GpuFile, EndsAtItsLimit) {
  const test::TempDirectory directory;
  int error = 0;
  const auto writer = GpuWriter::create(directory.path().string(), &error);
  ASSERT_EQ(error, 0);
  writer->limit(400);
  const std::uint32_t queue = writer->queue(0, 1, 7);
  for (int i = 0; i < 3; ++i) {  // 112 bytes, then 48 + 10 * 32
    for (int n = 0; n < (i == 0 ? 1 : 10); ++n) {
      writer->add({10, 20, queue, 1, GpuRecord::word(GpuRecordKind::kCopy, 1)});
    }
    EXPECT_EQ(writer->flush(), i == 0 ? 0u : 10u) << i;
  }
  EXPECT_EQ(writer->error(), EFBIG);
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  EXPECT_FALSE(data.damaged);
  EXPECT_EQ(data.records.size(), 1u);
}

TEST(GpuFile, IsMissedByNobody) {
  const test::TempDirectory directory;
  const GpuData data = read_gpu(SpoolDirectory(directory.path()));
  EXPECT_FALSE(data.damaged);
  EXPECT_TRUE(data.records.empty());
}

}  // namespace
}  // namespace timeloom::spool
