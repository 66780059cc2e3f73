#include "formats/sample_file/sample_file_writer.hpp"

#include <utility>

namespace timeloom::sample_file {
namespace {

using packing::Bytes;
using packing::put_varint;
using packing::zigzag;

// Undefined numbers become small ones.
void put_number(Bytes& to, std::uint32_t number) {
  put_varint(to, static_cast<std::uint32_t>(number + 1));
}

void put_difference(Bytes& to, std::uint64_t value, std::uint64_t before) {
  put_varint(to, zigzag(value - before));
}

void put_text(Bytes& sizes, Bytes& texts, const std::string& text) {
  put_varint(sizes, text.size());
  texts.insert(texts.end(), text.begin(), text.end());
}

}  // namespace

std::uint32_t Writer::stack(std::uint32_t outer, std::uint32_t region, bool unrecorded) {
  const Frame frame{outer, region, unrecorded};
  const auto next = static_cast<std::uint32_t>(frames_.size());
  if (const auto known = numbers_.find(frame); known != numbers_.end()) return known->second;
  if (frames_.size() >= kMostFrames) return outer;
  numbers_.emplace(frame, next);
  frames_.push_back(frame);
  return next;
}

void Writer::add(LocationId location, const Sample& sample) {
  Columns& columns = open_[location];
  put_difference(columns.times, sample.time_ns, columns.before.time_ns);
  put_varint(columns.weights, sample.weight_ns);
  put_number(columns.regions, sample.region);
  put_number(columns.codes, sample.code);
  put_difference(columns.lines, sample.line, columns.before.line);
  put_number(columns.stacks, sample.stack);
  columns.before = sample;
  if (++columns.count == kSamplesOfSection) finish_section(location, columns);
}

void Writer::finish_section(LocationId location, Columns& columns) {
  packing::StreamWriter streams;
  streams.add(compressor_, kTimes, columns.times);
  streams.add(compressor_, kWeights, columns.weights);
  streams.add(compressor_, kRegions, columns.regions);
  streams.add(compressor_, kCodeNumbers, columns.codes);
  streams.add(compressor_, kLines, columns.lines);
  streams.add(compressor_, kStacks, columns.stacks);
  append({kSamples, columns.count, location.value()}, streams.take());
  columns = {};
}

void Writer::append(const packing::SectionHead& head, const Bytes& body) {
  sections_ += packing::section_bytes(kMagic, head, body);
  ++count_;
}

Bytes Writer::tables(const std::vector<Function>& functions, const std::vector<Code>& codes) {
  Bytes of_functions, function_texts, of_codes, code_texts, of_frames;
  for (const Function& function : functions) {
    put_varint(of_functions, function.region);
    put_varint(of_functions, function.line);
    put_text(of_functions, function_texts, function.name);
    put_text(of_functions, function_texts, function.file);
  }
  for (const Code& code : codes) {
    put_text(of_codes, code_texts, code.library);
    put_text(of_codes, code_texts, code.symbol);
  }
  for (const Frame& frame : frames_) {
    put_number(of_frames, frame.outer);
    put_varint(of_frames, std::uint64_t{frame.region} << 1 | (frame.unrecorded ? 1 : 0));
  }
  packing::StreamWriter streams;
  streams.add(compressor_, kFunctions, of_functions);
  streams.add(compressor_, kFunctionTexts, function_texts);
  streams.add(compressor_, kCodes, of_codes);
  streams.add(compressor_, kCodeTexts, code_texts);
  streams.add(compressor_, kFrames, of_frames);
  return streams.take();
}

std::string Writer::take(const std::vector<Function>& functions, const std::vector<Code>& codes) {
  for (auto& [location, columns] : open_) {
    if (columns.count != 0) finish_section(location, columns);
  }
  const std::string samples = std::exchange(sections_, packing::magic_bytes(kMagic));
  append({kTables}, tables(functions, codes));
  sections_ += samples;
  append({packing::kEndSection, count_}, {});
  return std::move(sections_);
}

}  // namespace timeloom::sample_file
