// Regions that are known by an address: the objects and addresses in the spool.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tuple>

#include "core/regions/forked_region.hpp"
#include "record/native/code_region.hpp"
#include "record/region_state.hpp"
#include "record_fixture.hpp"

namespace timeloom::record {
namespace {

void function_of_the_test() {}
void another_function() {}

class CodeRegionTest : public RecordTest {
 protected:
  static const void* address_of(void (*function)()) {
    return reinterpret_cast<const void*>(function);
  }
  static EventWord define_at(const void* address, std::string_view construct = {}) {
    std::uint64_t state = 0;
    CodeRegion region;
    region.address = address;
    region.construct = construct;
    define_code_region(state, region);
    return known_word(state, measurement_number());
  }
  static void* load(const char* path) {
    void* const library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) ADD_FAILURE() << ::dlerror();
    return library;
  }
  // Loads the library, defines its function and unloads it.
  static EventWord define_in_library(const char* path) {
    void* const library = load(path);
    const EventWord word = define_at(::dlsym(library, "code_function"));
    EXPECT_EQ(::dlclose(library), 0);
    return word;
  }
  static const CodeAddress& address_in(const Recorded& found, EventWord word) {
    return found.definitions.addresses.at(payload_of(word));
  }
  static const CodeObject& object_in(const Recorded& found, EventWord word) {
    return found.definitions.objects.at(address_in(found, word).object);
  }
};

TEST_F(CodeRegionTest, TheProgramIsNamedAndAddressesCountFromItsLoadBias) {
  begin();
  const EventWord one = define_at(address_of(function_of_the_test));
  const EventWord other = define_at(address_of(another_function));
  const Recorded found = end();
  EXPECT_EQ(object_in(found, one).path, std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(found.definitions.objects.size(), 1u);
  Dl_info info{};
  ASSERT_NE(::dladdr(address_of(function_of_the_test), &info), 0);
  const auto base = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  // A program that is not position-independent has a bias of 0.
  const auto absolute = reinterpret_cast<std::uintptr_t>(function_of_the_test);
  const std::uint64_t address = address_in(found, one).address;
  EXPECT_TRUE(address == absolute - base || address == absolute);
  EXPECT_EQ(address_in(found, other).address - address,
            reinterpret_cast<std::uintptr_t>(another_function) - absolute);
  const Region& region = found.definitions.regions.at(payload_of(one));
  EXPECT_EQ(region.name, stand_in_name(object_in(found, one), address));
  EXPECT_EQ(region.group, file_name(object_in(found, one)));
  EXPECT_EQ(region.paradigm, Paradigm::kCompiler);
  EXPECT_EQ(region.role, RegionRole::kFunction);
}

TEST_F(CodeRegionTest, OneAddressIsOneRegionAConstructOrTheFunction) {
  begin();
  const void* const address = address_of(function_of_the_test);
  const EventWord function = define_at(address);
  const EventWord parallel = define_at(address, "!$omp parallel");
  EXPECT_EQ(define_at(address), function);
  EXPECT_EQ(define_at(address, "!$omp parallel"), parallel);
  EXPECT_NE(function, parallel);
  const EventWord elsewhere = define_at(address_of(another_function), "!$omp parallel");
  EXPECT_NE(elsewhere, parallel);
  const Recorded found = end();
  EXPECT_EQ(found.definitions.regions.size(), 3u);
  EXPECT_EQ(found.definitions.regions.at(payload_of(elsewhere)).name, "!$omp parallel");
  EXPECT_EQ(address_in(found, elsewhere).construct, "!$omp parallel");
  EXPECT_EQ(address_in(found, function).construct, "");
}

TEST_F(CodeRegionTest, EveryMeasurementHasTheObjectsItUses) {
  begin();
  const EventWord word = define_at(address_of(function_of_the_test));
  const std::string path = object_in(end(), word).path;
  next_spool();
  begin();
  EXPECT_TRUE(end().definitions.objects.empty());
  next_spool();
  begin();
  EXPECT_EQ(define_at(address_of(function_of_the_test)), word);
  EXPECT_EQ(object_in(end(), word).path, path);
}

TEST_F(CodeRegionTest, AForkedChildDefinesAnewAlsoWhatIsOpen) {
  begin();
  const EventWord word = define_at(address_of(function_of_the_test));
  enter(word);
  const pid_t child = ::fork();
  if (child == 0) {
    next_spool();
    StartOptions options;
    options.spool_directory = path();
    start_in_child(options);
    define_at(address_of(function_of_the_test));
    const Recorded found = end();
    const auto& [objects, addresses] =
        std::tie(found.definitions.objects, found.definitions.addresses);
    const bool good = objects.size() == 1 && addresses.size() == 2 &&
                      addresses.begin()->second.address == addresses.rbegin()->second.address &&
                      is_forked(found.definitions.regions.at(addresses.rbegin()->first));
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer allows no threads in the child of a process with threads";
#endif
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(CodeRegionTest, LibrariesOfOneNameInOnePlaceAreDifferentObjects) {
  begin();
  const EventWord one = define_in_library(TIMELOOM_CODE_ONE);
  const EventWord two = define_in_library(TIMELOOM_CODE_TWO);
  EXPECT_EQ(define_in_library(TIMELOOM_CODE_ONE), one);
  EXPECT_NE(one, two);
  const Recorded found = end();
  EXPECT_EQ(object_in(found, one).path, TIMELOOM_CODE_ONE);
  EXPECT_EQ(object_in(found, two).path, TIMELOOM_CODE_TWO);
  EXPECT_EQ(object_in(found, one).build_id, std::string(40, '1'));
  EXPECT_EQ(object_in(found, two).build_id, std::string(40, '2'));
  EXPECT_EQ(object_in(found, one).size, 0u);
}

TEST_F(CodeRegionTest, AnObjectWithoutBuildIdIsKnownByItsFile) {
  begin();
  const EventWord word = define_in_library(TIMELOOM_CODE_BARE);
  const Recorded found = end();
  EXPECT_EQ(object_in(found, word).build_id, "");
  EXPECT_EQ(object_in(found, word).size, std::filesystem::file_size(TIMELOOM_CODE_BARE));
  EXPECT_GT(object_in(found, word).changed_ns, 0);
}

TEST_F(CodeRegionTest, ARelativePathIsMadeAbsolute) {
  begin();
  const std::filesystem::path whole = TIMELOOM_CODE_ONE;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(whole.parent_path());
  void* const library = load(("./" + whole.filename().string()).c_str());
  std::filesystem::current_path(before);
  const EventWord word = define_at(::dlsym(library, "code_function"));
  ::dlclose(library);
  EXPECT_EQ(object_in(end(), word).path, std::filesystem::canonical(whole));
}

TEST_F(CodeRegionTest, AnAddressInNoObjectIsItsOwnName) {
  begin();
  const std::vector<char> data(64);
  const std::string digits = hexadecimal(reinterpret_cast<std::uintptr_t>(data.data()));
  const EventWord function = define_at(data.data());
  const EventWord construct = define_at(data.data(), "!$omp task");
  const Recorded found = end();
  EXPECT_EQ(found.definitions.regions.at(payload_of(function)).name, digits);
  EXPECT_EQ(found.definitions.regions.at(payload_of(construct)).name, "!$omp task @" + digits);
  EXPECT_TRUE(found.definitions.addresses.empty());
}

}  // namespace
}  // namespace timeloom::record
