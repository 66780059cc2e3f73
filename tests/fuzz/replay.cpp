// The main() of a fuzzer that is built without libFuzzer: gives it every input of its corpus.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::vector<std::filesystem::path> inputs_in(const std::filesystem::path& corpus) {
  std::vector<std::filesystem::path> inputs;
  for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
    inputs.push_back(entry.path());
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

std::vector<char> contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void replay(const std::filesystem::path& corpus) {
  const auto inputs = inputs_in(corpus);
  if (inputs.empty()) throw std::runtime_error("no inputs in " + corpus.string());
  for (const auto& input : inputs) {
    std::printf("%s\n", input.c_str());
    std::fflush(stdout);  // the last line names the input that a crash comes from
    const auto contents = contents_of(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: fuzz_NAME CORPUS");
    replay(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "replay: %s\n", error.what());
    return 1;
  }
}
