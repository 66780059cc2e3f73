// The bound for demangled texts: never below the text, and so large for hostile names that they
// stay as they are.
#include "symbols/demangled_size.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "symbols/function_name.hpp"

namespace timeloom::symbols {
namespace {

std::string reference(unsigned number) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (number == 0) return "S_";
  std::string digits;
  for (--number; number >= 36; number /= 36) digits.insert(0, 1, kDigits[number % 36]);
  return "S" + std::string(1, kDigits[number % 36]) + digits + "_";
}

// f(A<int, int>, A<A<int, int>, A<int, int>>, …): each parameter has the one before twice.
std::string doubling(unsigned parameters) {
  std::string name = "_Z1f1AIiiE";
  for (unsigned i = 1; i < parameters; ++i) {
    name += "S_I" + reference(i) + reference(i) + "E";
  }
  return name;
}

std::string demangled(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? std::string() : text.get();
}

TEST(DemangledSize, IsNeverBelowTheText) {
  for (const char* name : {"_Z1fv",
                           "_ZN6solver4GridIdE4stepEi",
                           "_ZNKSt6vectorIiSaIiEE4sizeEv",
                           "_ZlsRSoRK3Foo",
                           "_ZN12_GLOBAL__N_14stepEv",
                           "_ZZ4mainENKUliE_clEi",
                           "_ZN3FooC2ERKS_",
                           "_ZThn16_N3Foo3barEv",
                           "_ZTV3Foo",
                           "_ZGVZ1fvE1x",
                           "_ZN1AcvPKcEv",
                           "_ZStplIcSt11char_traitsIcESaIcEESbIT_T0_T1_ERKS6_S8_",
                           "_Z1fIJiidEEvDpT_",
                           "_Z1gIJPKcS1_3FooEEvDpRKSt6vectorIT_SaIS4_EE",
                           "_Z1hM3FooFviEMS_i",
                           "_Z1aRA10_KSs",
                           "_Z1bILi5ELb1EL4Enum3EEvv",
                           "_ZN3fmt2v96detail5writeIcNS0_8appenderEEET0_S4_T_",
                           "_Z1pPFPFvPKcES0_EDn",
                           "_ZN3foo3barB5cxx11Ev",
                           "_Z1vDv4_fS_",
                           "_ZNSt8functionIFvP3FooRKSsEEclES1_S3_"}) {
    const std::string text = demangled(name);
    ASSERT_FALSE(text.empty()) << name;
    EXPECT_GE(most_demangled(name), text.size()) << name;
    EXPECT_EQ(function_name(name).whole, text);
  }
  for (unsigned parameters = 1; parameters < 12; ++parameters) {
    EXPECT_GE(most_demangled(doubling(parameters)), demangled(doubling(parameters)).size());
  }
}

// Some hundred bytes that stand for 2^60 and more.
TEST(DemangledSize, OfAHostileNameIsTooLarge) {
  for (const unsigned parameters : {60u, 200u, 1000u}) {
    const std::string name = doubling(parameters);
    EXPECT_GT(most_demangled(name), std::uint64_t{1} << 60);
    EXPECT_EQ(function_name(name).name, name);
  }
  const std::string packs = "_Z1fIJiiiiiiiiEEvDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpDpT_";
  EXPECT_GT(most_demangled(packs), std::uint64_t{1} << 60);
  // Where the grammar is not followed, everything counts.
  std::string expression = "_Z1fIXaNLi1ELi2EEEv1AIiiE";
  for (unsigned i = 1; i < 60; ++i) expression += "S_I" + reference(i) + reference(i) + "E";
  EXPECT_GT(most_demangled(expression), std::uint64_t{1} << 60);
}

TEST(DemangledSize, OfNoiseIsANumber) {
  std::uint32_t random = 1;
  constexpr std::string_view kLetters = "NIEJSTZDLFXPKRUVMABC_0123456789abdfilstv";
  for (int i = 0; i < 20'000; ++i) {
    std::string name = "_Z";
    for (int k = 0; k < 60; ++k) {
      random = random * 1664525 + 1013904223;
      name += kLetters[(random >> 16) % kLetters.size()];
    }
    const std::uint64_t most = most_demangled(name);
    if (most <= 1 << 16) {
      EXPECT_GE(most, demangled(name).size()) << name;
    }
  }
  EXPECT_GT(most_demangled("_Z" + std::string(20'000, 'N')), 0u);
}

}  // namespace
}  // namespace timeloom::symbols
