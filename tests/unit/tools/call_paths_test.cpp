// The table of call paths that the rules of findings share.

#include "tools/report/findings/call_paths.hpp"

#include <gtest/gtest.h>

#include "tools/findings_story.hpp"

namespace timeloom::tools {
namespace {

std::string name_at(const profile::CallTree& tree, profile::NodeId node) {
  const RegionId region = region_at(tree, node);
  return region.defined() ? tree.definitions.regions[region.value()].name : "-";
}

// By call path: its innermost import and body of a module, its innermost and outermost part of the
// project, its outermost functions of the project and of a library.
std::string table_of(const profile::CallTree& tree) {
  std::string text;
  for (const CallPath& path : call_paths(tree, CodeOwner(tree.definitions))) {
    for (const profile::NodeId node :
         {path.import, path.body, path.innermost, path.outermost, path.function, path.library}) {
      text += name_at(tree, node) + " ";
    }
    text += path.is_importing() ? "importing\n" : path.is_in_import() ? "in import\n" : "\n";
  }
  return text;
}

TEST(CallPaths, KnowTheImportsAndFunctionsOfTheProjectAroundThem) {
  profile::Story story;
  story.thread(
      "main",
      "app.<module> main import lib.<module> lib.make +1 ) ) set.<module> set +1 ) ) ) ) )");
  EXPECT_EQ(table_of(tree_of(story)),
            "- app.<module> app.<module> app.<module> - - \n"
            "- app.<module> main app.<module> main - \n"
            "import app.<module> main app.<module> main import importing\n"
            "lib.<module> lib.<module> main app.<module> main import importing\n"
            "lib.<module> lib.<module> main app.<module> main import importing\n"
            "import set.<module> set.<module> app.<module> main import in import\n"
            "import set.<module> set app.<module> main import in import\n");
}

TEST(CallPaths, DoNotTakeFunctionsThatStartThreadsForTheOutermostOfALibrary) {
  for (const std::string start : {"threading.Thread.run", "threading._bootstrap", "queue.get"}) {
    profile::Story story;
    story.thread("worker", start + " libwork +1 ) )");
    for (Region& region : story.definitions().regions) region.file = "<frozen os>";
    const profile::CallTree tree = tree_of(story);
    for (const profile::CallTree& one : {tree, with_colons(tree)}) {
      EXPECT_EQ(table_of(one), "- - - - - - \n- - - - - libwork \n") << start;
    }
  }
}

}  // namespace
}  // namespace timeloom::tools
