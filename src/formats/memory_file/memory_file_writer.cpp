#include "formats/memory_file/memory_file_writer.hpp"

#include <utility>

namespace timeloom::memory_file {
namespace {

using packing::Bytes;
using packing::put_varint;
using packing::zigzag;

// Undefined numbers become small ones.
void put_number(Bytes& to, std::uint32_t number) {
  put_varint(to, static_cast<std::uint32_t>(number + 1));
}

void put_amount(Bytes& to, const Amount& amount) {
  for (const std::uint64_t number : {amount.bytes, amount.blocks, amount.least}) {
    put_varint(to, number);
  }
}

Bytes paths_body(packing::Compressor& compressor, const Process& process) {
  Bytes of_process, places, allocated, at_peak, at_end;
  const std::uint64_t flags = (process.exact ? 1u : 0u) | (process.each ? 2u : 0u);
  for (const std::uint64_t number :
       {process.interval, flags, process.start_ns, process.live_at_start}) {
    put_varint(of_process, number);
  }
  for (const Path& path : process.paths) {
    put_number(places, path.parent);
    put_number(places, path.region);
    put_varint(places, path.own ? 1 : 0);
    put_amount(allocated, path.allocated);
    put_amount(at_peak, path.at_peak);
    put_amount(at_end, path.at_end);
  }
  packing::StreamWriter streams;
  streams.add(compressor, kProcess, of_process);
  streams.add(compressor, kPlaces, places);
  streams.add(compressor, kAllocated, allocated);
  streams.add(compressor, kAtPeak, at_peak);
  streams.add(compressor, kAtEnd, at_end);
  return streams.take();
}

Bytes blocks_body(packing::Compressor& compressor, const std::vector<Block>& blocks) {
  Bytes times, numbers, bytes, live;
  Block before;
  for (const Block& block : blocks) {
    put_varint(times, zigzag(block.time_ns - before.time_ns));
    put_varint(numbers, block.number << 1 | (block.death ? 1 : 0));
    if (!block.death) put_varint(bytes, block.bytes);
    put_varint(live, zigzag(block.live - before.live));
    before = block;
  }
  packing::StreamWriter streams;
  streams.add(compressor, kTimes, times);
  streams.add(compressor, kNumbers, numbers);
  streams.add(compressor, kBytes, bytes);
  streams.add(compressor, kLive, live);
  return streams.take();
}

}  // namespace

void Writer::append(const packing::SectionHead& head, const Bytes& body) {
  if (count_ == 0) bytes_ = packing::magic_bytes(kMagic);
  bytes_ += packing::section_bytes(kMagic, head, body);
  ++count_;
}

void Writer::add(const Process& process, const std::vector<Block>& blocks) {
  append({kPaths, process.group, process.paths.size()}, paths_body(compressor_, process));
  append({kBlocks, process.group, blocks.size()}, blocks_body(compressor_, blocks));
}

std::string Writer::take() {
  append({packing::kEndSection, count_}, {});
  return std::move(bytes_);
}

}  // namespace timeloom::memory_file
