// Names of functions from symbols, and the function that contains an address.
#include <gtest/gtest.h>

#include "symbols/function_name.hpp"
#include "symbols/function_symbols.hpp"

namespace timeloom::symbols {
namespace {

std::string name(std::string_view symbol) { return function_name(symbol).name; }

TEST(FunctionNameTest, CopiesAndPartsHaveTheNameOfTheFunction) {
  for (const char* symbol :
       {"step", "step.constprop.0", "step.isra.0", "step.part.0", "step.cold", "step.part.0.cold",
        "step._omp_fn.0", "step.constprop.0._omp_fn.12", "step.llvm.1234", "step.localalias",
        "step.17", "step.omp_outlined", "step.omp_outlined.3", "step@@GRID_1.0", "step@GRID_1.0"}) {
    EXPECT_EQ(name(symbol), "step") << symbol;
  }
  EXPECT_EQ(name("step.avx2"), "step.avx2");
  EXPECT_EQ(name(".omp_outlined."), ".omp_outlined.");
  EXPECT_EQ(name(".17"), ".17");
  EXPECT_EQ(name(""), "");
}

TEST(FunctionNameTest, FortranIsNamedAsWritten) {
  EXPECT_EQ(name("__heat_MOD_advance"), "heat::advance");
  EXPECT_EQ(name("__heat_MOD_advance._omp_fn.0"), "heat::advance");
  EXPECT_EQ(name("__heat_2d_MOD_a_MOD_b"), "heat_2d::a_MOD_b");
  EXPECT_EQ(name("__heat_MOD_"), "__heat_MOD_");
  EXPECT_EQ(name("___MOD_x"), "___MOD_x");
  EXPECT_EQ(name("MAIN__"), "MAIN__");
}

TEST(FunctionNameTest, CythonIsNamedAsPythonDoes) {
  EXPECT_EQ(name("__pyx_f_7sklearn_7cluster_14_k_means_lloyd__update_chunk_dense"),
            "sklearn.cluster._k_means_lloyd._update_chunk_dense");
  for (const char* symbol : {"__pyx_pf_4heat_load_data", "__pyx_pf_4heat_4load_data",
                             "__pyx_pw_4heat_5load_data", "__pyx_f_4heat_load_data"}) {
    EXPECT_EQ(name(symbol), "heat.load_data") << symbol;
  }
  EXPECT_EQ(name("__pyx_pf_4heat_2to_step"), "heat.to_step");
  EXPECT_EQ(name("__pyx_pf_4heat_4Grid_2is_done"), "heat.Grid.is_done");
  EXPECT_EQ(name("__pyx_pf_4heat_4Grid_step"), "heat.Grid.step");
  EXPECT_EQ(name("__pyx_pf_4heat_10_predictor__predict_raw"), "heat._predictor._predict_raw");
  EXPECT_EQ(name("__pyx_pf_4heat_10_predictor_predict"), "heat._predictor_predict");
  EXPECT_EQ(name("__pyx_pf_4heat_4Grid_10__setstate_cython__"), "heat.Grid.__setstate_cython__");
  EXPECT_EQ(name("__pyx_pw_4heat_4Grid_11__setstate_cython__"), "heat.Grid.__setstate_cython__");
  EXPECT_EQ(name("__pyx_pf_7sklearn_7cluster_14_k_means_lloyd_6lloyd_iter._omp_fn.0"),
            "sklearn.cluster._k_means_lloyd.lloyd_iter");
  EXPECT_EQ(name("__pyx_pw_7sklearn_5_loss_5_loss_18CyHalfBinomialLoss_40gradient_hessian"),
            "sklearn._loss._loss.CyHalfBinomialLoss.gradient_hessian");
  EXPECT_EQ(name("__pyx_fuse_0_1__pyx_pw_4heat_2step"), "heat.step");
  EXPECT_EQ(name("__pyx_pw_5scipy_14cython_special_841__pyx_fuse_2_0eval_u"),
            "scipy.cython_special.eval_u");
  EXPECT_EQ(name("__pyx_pw_7sklearn_12_cython_blas_71__pyx_fuse_0_gemv"),
            "sklearn._cython_blas._gemv");
  EXPECT_EQ(name("_ZL24__pyx_f_4heat_4Grid_stepP4Grid"), "heat.Grid.step");
  for (const char* symbol :
       {"__pyx_f_", "__pyx_f_4heat_", "__pyx_f_4heat_2", "__pyx_f_step", "__pyx_fuse_1",
        "__pyx_fuse_1__pyx_", "__pyx_pw_99999999999999999999_step", "__pyx_pymod_exec_heat",
        "__pyx_pf_4heat_2__pyx_fuse_0"}) {
    EXPECT_EQ(name(symbol), symbol);
  }
}

TEST(FunctionNameTest, CppIsDemangledWithoutParametersAndResult) {
  const FunctionName step = function_name("_ZNK6solver4GridIdE4stepEi.constprop.0");
  EXPECT_EQ(step.name, "solver::Grid<double>::step");
  EXPECT_EQ(step.whole, "solver::Grid<double>::step(int) const");
  EXPECT_EQ(name("_Z5twiceIiET_S0_"), "twice<int>");
  EXPECT_EQ(name("_ZN1AclEv"), "A::operator()");
  EXPECT_EQ(name("_ZN1AltERKS_"), "A::operator<");
  EXPECT_EQ(name("_ZN1AcvbEv"), "A::operator bool");
  EXPECT_EQ(name("_ZN12_GLOBAL__N_11fEPFviE"), "(anonymous namespace)::f");
  EXPECT_EQ(name("_ZZ1fvENKUliE_clEi"), "f()::{lambda(int)#1}::operator()");
  EXPECT_EQ(name("_Zbroken"), "_Zbroken");
}

using Entry = FunctionSymbols::Entry;
using enum FunctionSymbols::Binding;

class FunctionSymbolsTest : public ::testing::Test {
 protected:
  void add(const std::string& symbol, std::uint64_t address, std::uint64_t size,
           FunctionSymbols::Binding binding = kGlobal, std::uint64_t limit = 0) {
    entries_.push_back({address, size, limit, static_cast<std::uint32_t>(names_.size()), binding});
    names_.insert(names_.end(), symbol.begin(), symbol.end());
    names_.push_back('\0');
  }
  std::string find(std::uint64_t address) const {
    const FunctionSymbols symbols(entries_, names_);
    const auto found = symbols.find(address);
    return found ? std::string(found->name) + "+" + std::to_string(address - found->address)
                 : "none";
  }

  std::vector<Entry> entries_;
  std::vector<char> names_;
};

TEST_F(FunctionSymbolsTest, AnAddressIsInTheFunctionThatContainsIt) {
  EXPECT_EQ(find(5), "none");
  add("b", 200, 10);
  add("a", 100, 10);
  EXPECT_EQ(find(99), "none");
  EXPECT_EQ(find(100), "a+0");
  EXPECT_EQ(find(109), "a+9");
  EXPECT_EQ(find(110), "none");
  EXPECT_EQ(find(209), "b+9");
  EXPECT_EQ(find(UINT64_MAX), "none");
}

TEST_F(FunctionSymbolsTest, OfSeveralNamesTheGlobalOneWithoutAVersionCounts) {
  add("_local", 100, 10, kLocal);
  add("weak", 100, 10, kWeak);
  add("v@@X_1", 100, 10);
  add("global_name", 100, 10);
  add("", 100, 10);
  EXPECT_EQ(find(104), "global_name+4");
}

TEST_F(FunctionSymbolsTest, AFunctionOfUnknownSizeEndsAtTheNextOrWithItsSection) {
  add("start", 100, 0, kGlobal, 300);
  add("next", 150, 20);
  add("last", 250, 0, kGlobal, 300);
  EXPECT_EQ(find(149), "start+49");
  EXPECT_EQ(find(170), "none");
  EXPECT_EQ(find(299), "last+49");
  EXPECT_EQ(find(300), "none");
}

TEST_F(FunctionSymbolsTest, AnotherNameMayTellTheSize) {
  add("global", 100, 0);
  add("local", 100, 10, kLocal);
  EXPECT_EQ(find(109), "global+9");
  EXPECT_EQ(find(110), "none");
}

TEST_F(FunctionSymbolsTest, ALabelInAFunctionIsNotTheFunction) {
  add("outer", 100, 100);
  add("label", 120, 0, kLocal, 1000);
  add("inner", 150, 10);
  EXPECT_EQ(find(130), "outer+30");
  EXPECT_EQ(find(155), "inner+5");
  EXPECT_EQ(find(180), "outer+80");
}

TEST_F(FunctionSymbolsTest, NumbersThatWrapAroundDoNoHarm) {
  add("end", UINT64_MAX - 5, UINT64_MAX);
  add("all", 0, UINT64_MAX);
  entries_.push_back({7, 1, 0, 4000, kGlobal});  // a name outside of the names
  EXPECT_EQ(find(UINT64_MAX - 1), "end+4");
  EXPECT_EQ(find(7), "all+7");
}

}  // namespace
}  // namespace timeloom::symbols
