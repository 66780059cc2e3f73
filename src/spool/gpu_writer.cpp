#include "spool/gpu_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace timeloom::spool {
namespace {

constexpr std::size_t words_for(std::size_t bytes) { return (bytes + 7) / 8; }

template <typename Value>
std::string gpu_record_bytes(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

std::size_t GpuWriter::LaunchHash::operator()(const GpuLaunch& launch) const noexcept {
  std::uint64_t words[sizeof(GpuLaunch) / 8];
  std::memcpy(words, &launch, sizeof words);
  return words_check(words);
}

bool GpuWriter::SameLaunch::operator()(const GpuLaunch& a, const GpuLaunch& b) const noexcept {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::unique_ptr<GpuWriter> GpuWriter::create(const KnownDirectory& spool, int* error, bool packs) {
  os::File file = spool.create_file(kGpuFile, error);
  if (*error != 0) return nullptr;
  GpuHeader header{kGpuMagic, packs ? kPackedGpuVersion : kGpuVersion, 0, 0};
  header.check = checksum(reinterpret_cast<const std::byte*>(&header), sizeof header - 4);
  *error = file.write_at(0, std::as_bytes(std::span(&header, 1)));
  if (*error != 0) return nullptr;
  std::unique_ptr<GpuWriter> writer(new GpuWriter(std::move(file)));
  writer->size_ = sizeof header;
  if (packs) writer->packer_.begin();
  return writer;
}

void GpuWriter::put(GpuBlockKind kind, const void* payload, std::size_t size) {
  const std::size_t words = words_for(size);
  const std::size_t head = pending_.size();
  pending_.resize(head + sizeof(GpuBlock) / 8 + words);
  std::uint64_t* const to = pending_.data() + head + sizeof(GpuBlock) / 8;
  std::memcpy(to, payload, size);
  const GpuBlock block{kind, static_cast<std::uint32_t>(8 * words), gpu_check(kind, {to, words})};
  std::memcpy(pending_.data() + head, &block, sizeof block);
}

std::uint32_t GpuWriter::text(std::string_view text) {
  constexpr std::size_t kLongest = 65536;
  const auto next = static_cast<std::uint32_t>(texts_.size());
  const auto [known, is_new] = texts_.try_emplace(std::string(text.substr(0, kLongest)), next);
  if (is_new) {
    const GpuId id{next, static_cast<std::uint32_t>(known->first.size())};
    const std::string payload = gpu_record_bytes(id) + known->first;
    put(GpuBlockKind::kText, payload.data(), payload.size());
  }
  return known->second;
}

std::uint32_t GpuWriter::place(GpuPlace place) {
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [known, is_new] = places_.try_emplace(gpu_record_bytes(place), next);
  if (is_new) {
    place.id = next;
    put(GpuBlockKind::kPlace, &place, sizeof place);
  }
  return known->second;
}

std::uint32_t GpuWriter::thread(std::uint64_t id) {
  return place({0, GpuPlaceKind::kThread, id, 0, 0, 0});
}

std::uint32_t GpuWriter::queue(std::uint32_t device, std::uint32_t context, std::uint64_t queue) {
  return place({0, GpuPlaceKind::kQueue, 0, device, context, queue});
}

std::uint32_t GpuWriter::device_place(std::uint32_t device) {
  return place({0, GpuPlaceKind::kDevice, 0, device, 0, 0});
}

// Finds a name by its address, since names are long: comparing the text costs less than hashing it.
std::uint32_t GpuWriter::name_at(const char* name) {
  const auto known = names_.find(name);
  if (known != names_.end() && known->second.text == name) return known->second.id;
  const std::uint32_t id = text(name);
  names_[name] = {name, id};
  return id;
}

std::uint32_t GpuWriter::launch(const char* name, const GpuLaunch& launch) {
  GpuLaunch whole = launch;
  whole.id = 0;
  whole.name = name_at(name);
  const auto next = static_cast<std::uint32_t>(launches_.size());
  const auto [known, is_new] = launches_.try_emplace(whole, next);
  if (is_new) {
    whole.id = next;
    put(GpuBlockKind::kLaunch, &whole, sizeof whole);
  }
  return known->second;
}

void GpuWriter::device(std::uint32_t id, std::string_view name, std::uint64_t memory) {
  const GpuDevice device{id, text(name), memory};
  if (devices_.try_emplace(id, device.name).second) {
    put(GpuBlockKind::kDevice, &device, sizeof device);
  }
}

std::uint32_t GpuWriter::label(std::string_view domain, std::string_view category) {
  if (domain.empty() && category.empty()) return 0;
  const auto text_or_none = [&](std::string_view one) {
    return one.empty() ? kGpuNone : text(one);
  };
  const std::uint32_t of_domain = text_or_none(domain), of_category = text_or_none(category);
  const auto next = static_cast<std::uint32_t>(labels_.size());
  const auto [known, is_new] = labels_.try_emplace({of_domain, of_category}, next);
  if (is_new) {
    const GpuLabel label{next, of_domain, of_category, 0};
    put(GpuBlockKind::kLabel, &label, sizeof label);
  }
  return known->second + 1;
}

void GpuWriter::leave(std::uint64_t ticks) { put(GpuBlockKind::kLeft, &ticks, sizeof ticks); }

void GpuWriter::put_records() {
  constexpr std::size_t kMost = kLargestGpuBlock / sizeof(GpuRecord);
  for (std::size_t i = 0; i < records_.size(); i += kMost) {
    const auto records = std::span(records_).subspan(i, std::min(kMost, records_.size() - i));
    const auto packed = packer_.pack(std::as_bytes(records));
    if (packed.empty()) {
      put(GpuBlockKind::kRecords, records.data(), records.size_bytes());
    } else {
      put(GpuBlockKind::kPacked, packed.data(), packed.size());
    }
  }
}

std::uint64_t GpuWriter::flush() {
  put_records();
  if (lost_ != told_lost_) put(GpuBlockKind::kLost, &lost_, sizeof lost_);
  if (error_ == 0 && !pending_.empty()) {
    const auto bytes = std::as_bytes(std::span(pending_));
    error_ = size_ + bytes.size() > most_bytes_ ? EFBIG : file_.write_at(size_, bytes);
    if (error_ == 0) {
      size_ += bytes.size();
    } else {
      (void)file_.truncate(size_);  // so that no record counted as lost is half in the file
    }
  }
  if (error_ != 0) lost_ += records_.size();
  const std::uint64_t untold = error_ == 0 ? 0 : lost_ - told_lost_;
  told_lost_ = lost_;
  records_.clear();
  pending_.clear();
  return untold;
}

}  // namespace timeloom::spool
