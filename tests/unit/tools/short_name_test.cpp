#include "tools/text/short_name.hpp"

#include <gtest/gtest.h>

#include "tools/text/human_text.hpp"

namespace timeloom::tools {
namespace {

TEST(ShortName, LosesLocalsThenTheMiddle) {
  const Terminal unicode{80, false, true}, ascii{80, false, false};
  const std::string name = "django.db.utils.Wrapper.__call__.<locals>.inner";
  EXPECT_EQ(short_name(name, 47, unicode), name);
  EXPECT_EQ(short_name(name, 46, unicode), "django.db.utils.Wrapper.__call__\u2026inner");
  EXPECT_EQ(short_name(name, 46, ascii), "django.db.utils.Wrapper.__call__...inner");
  EXPECT_EQ(short_name("django.db.models.sql.compiler.SQLCompiler.as_sql", 40, ascii),
            "django...sql.compiler.SQLCompiler.as_sql");
  EXPECT_EQ(short_name("django.db.models.sql.compiler.SQLCompiler.as_sql", 30, ascii),
            "django...SQLCompiler.as_sql");
}

TEST(ShortName, FitsEveryWidth) {
  for (const bool sign : {false, true}) {
    const Terminal terminal{80, false, sign};
    for (const char* name :
         {"a", "main", "a.b.c.<locals>.d.<locals>.e", "averylongnamewithoutanydots",
          "package.module.Class.method", ".starts.with.a.dot"}) {
      for (std::size_t width = 4; width < 40; ++width) {
        EXPECT_LE(columns(short_name(name, width, terminal)), width) << name;
      }
    }
  }
}

}  // namespace
}  // namespace timeloom::tools
