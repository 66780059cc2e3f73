#include "formats/packed/host_file.hpp"

#include <algorithm>
#include <cerrno>

#include "formats/packed/thread_contexts.hpp"

namespace timeloom::packed {
namespace {

// Half a million call paths are 30 MB.
constexpr std::uint64_t kLargestText = std::uint64_t{1} << 28;

int write(os::File& file, std::uint64_t at, const Bytes& section, const os::File& blocks,
          std::uint64_t size) {
  const int error = file.copy_from(blocks, 0, at + section.size(), size);
  return error != 0 ? error : file.write_at(at, std::as_bytes(std::span(section)));
}

}  // namespace

std::optional<RankPart> append_rank(os::File& file, std::uint64_t number, std::uint64_t key,
                                    ByteSpan about, const os::File& blocks, int* error) {
  StreamWriter streams;
  streams.add(thread_compressor(), 0, about);
  SectionHead head;
  head.version = kVersionOfParts;
  head.kind = SectionKind::kPackedRank;
  head.run = number;
  head.location = key;
  head.first = blocks.size(error);
  if (*error != 0) return {};
  const Bytes section = section_bytes(head, streams.take());
  const std::uint64_t before = file.size(error);
  if (*error != 0) return {};
  const std::uint64_t at = aligned(before);
  RankPart part;
  part.about.at = at + sizeof head;
  part.blocks_at = at + section.size();
  part.blocks_size = head.first;
  *error = write(file, at, section, blocks, head.first);
  const bool same = *error == 0 && read_head(file, at, part.about.head) &&
                    part.number() == number && std::ranges::equal(about_rank(file, part), about);
  if (same) return part;
  if (*error == 0) *error = EIO;
  (void)file.truncate(before);
  return {};
}

namespace {

// The part whose section is there, if it is one.
std::optional<RankPart> rank_at(const os::File& file, std::uint64_t at, std::uint64_t end) {
  RankPart part;
  SectionHead& head = part.about.head;
  if (!read_head(file, at, head)) return {};
  part.about.at = std::min(at + sizeof head, end);
  if (head.kind != SectionKind::kPackedRank || head.version != kVersionOfParts ||
      head.size > end - part.about.at) {
    return {};
  }
  part.blocks_at = std::min(part.about.at + aligned(head.size), end);
  part.blocks_size = head.first;
  return part.blocks_size <= end - part.blocks_at ? std::optional(part) : std::nullopt;
}

}  // namespace

std::vector<RankPart> find_ranks(const os::File& file) {
  std::vector<RankPart> parts;
  int error = 0;
  const std::uint64_t end = file.size(&error);
  for (std::uint64_t at = 0; error == 0 && at < end;) {
    if (const std::optional<RankPart> part = rank_at(file, at, end)) {
      parts.push_back(*part);
      at = part->blocks_at + part->blocks_size;
    } else {
      // Of an append that was cut off: the size of its last block may reach into the next part.
      at = next_head(file, at + 8, end);
    }
  }
  return parts;
}

Bytes about_rank(const os::File& file, const RankPart& part) {
  Bytes body, text;
  StreamReader streams;
  if (part.about.head.size > kLargestText || !read_body(file, part.about, body) ||
      !streams.read(thread_decompressor(), body, kLargestText)) {
    return text;
  }
  const ByteSpan found = streams.stream(0);
  text.assign(found.begin(), found.end());
  return text;
}

bool is_sound(os::File file, const RankPart& part) {
  const FileReader reader(std::move(file), "", part.blocks_at, part.blocks_size, part.number());
  Bytes body;
  return reader.damaged_parts() == 0 &&
         std::ranges::all_of(reader.sections(),
                             [&](const Section& one) { return reader.read(one, body); });
}

}  // namespace timeloom::packed
