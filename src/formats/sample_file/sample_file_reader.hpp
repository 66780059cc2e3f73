// Reads the file samples.timeloom. See sample_file.hpp.
//
// Used by one thread. Throws Error for a file that is damaged, or of another version.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "formats/sample_file/sample_file.hpp"
#include "packing/section_file.hpp"

namespace timeloom::sample_file {

class Reader {
 public:
  // Opens the file and reads its tables.
  explicit Reader(const std::filesystem::path& path);
  // The same of bytes that lie in memory.
  explicit Reader(os::File file);

  // In order of their regions.
  const std::vector<Function>& functions() const noexcept { return functions_; }
  // The function of a region; null: the file has none.
  const Function* function(std::uint32_t region) const noexcept;
  const std::vector<Code>& codes() const noexcept { return codes_; }
  // A frame comes after the frames around it.
  const std::vector<Frame>& frames() const noexcept { return frames_; }

  // Hands over all samples of the wanted locations. Their regions, codes and stacks are in the
  // tables, or kNone. Samples of one location come in the order in which they were written.
  using Wanted = std::function<bool(LocationId)>;
  using Take = std::function<void(LocationId, const Sample&)>;
  void each(const Wanted& wanted, const Take& take);

 private:
  using Section = packing::SectionFile::Section;

  void check_sections() const;
  void read_tables();
  void read_functions(const packing::StreamReader& tables);
  void read_codes(const packing::StreamReader& tables);
  void read_frames(const packing::StreamReader& tables);
  void take_samples(const Section& section, const Take& take);

  packing::SectionFile file_;
  std::vector<Function> functions_;
  std::vector<Code> codes_;
  std::vector<Frame> frames_;
};

}  // namespace timeloom::sample_file
