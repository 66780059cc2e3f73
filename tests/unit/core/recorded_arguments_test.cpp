#include "core/recorded_arguments.hpp"

#include <gtest/gtest.h>

namespace timeloom {
namespace {

using Words = std::vector<std::string>;

Words masked(Words words) {
  return recorded_arguments(std::move(words), RecordArguments::kMasked, 0);
}

TEST(RecordedArguments, ValuesOfOptionsThatAreSecretsAreMasked) {
  EXPECT_EQ(masked({"app.py", "--password=hunter2", "--token", "abc", "--key=k", "-key", "k", "x"}),
            (Words{"app.py", "--password=***", "--token", "***", "--key=***", "-key", "***", "x"}));
  EXPECT_EQ(
      masked({"--DB_Password=a=b", "--github-token", "-t", "db.password=x", "API_KEY=x"}),
      (Words{"--DB_Password=***", "--github-token", "***", "db.password=***", "API_KEY=***"}));
  EXPECT_EQ(masked({"--token"}), (Words{"--token"}));
  EXPECT_EQ(masked({"--token", "--password", "x"}), (Words{"--token", "--password", "***"}));
  EXPECT_EQ(masked({"--password="}), (Words{"--password=***"}));
}

TEST(RecordedArguments, SecretsInNamesOfOtherWaysOfWritingAreMasked) {
  EXPECT_EQ(
      masked({"--dbPassword=x", "--accessKey", "x", "PGPASSWORD=x", "-clientSecret=x"}),
      (Words{"--dbPassword=***", "--accessKey", "***", "PGPASSWORD=***", "-clientSecret=***"}));
}

TEST(RecordedArguments, SecretsInQueriesOfUrlsAreMasked) {
  EXPECT_EQ(
      masked({"https://h/x?token=abc", "h?a=1&api_key=k#part", "--url=http://u:p@h?key=k&b=2",
              "?token=&password=p q", "??token=a&&token=b", "a?b", "what?", "?=&", "x?a&b=c"}),
      (Words{"https://h/x?token=***", "h?a=1&api_key=***#part", "--url=http://u:***@h?key=***&b=2",
             "?token=***&password=*** q", "??token=***&&token=***", "a?b", "what?", "?=&",
             "x?a&b=c"}));
}

TEST(RecordedArguments, SecretsInHeadersAreMasked) {
  EXPECT_EQ(masked({"-H", "Authorization: Bearer abc", "--header=X-Api-Key: k",
                    "X-Auth-Token: ", "Accept: text/html", ": x", "a: b: c"}),
            (Words{"-H", "Authorization: ***", "--header=X-Api-Key: ***", "X-Auth-Token: ***",
                   "Accept: text/html", ": x", "a: b: c"}));
}

TEST(RecordedArguments, SecretsInJsonAreMasked) {
  EXPECT_EQ(masked({R"({"password":"x"})", R"(--login={"user": "me", "api_key" : "a\"b", "n": 1})",
                    R"({"token": 5, "pin":[1,2]})", R"({"a":{"secret":null}})", R"({"token":""})",
                    R"("token":)", R"("token")", R"("tok)", R"({"x":"token","y":"z"})"}),
            (Words{R"({"password":"***"})", R"(--login={"user": "me", "api_key" : "***", "n": 1})",
                   R"({"token": ***, "pin":***,2]})", R"({"a":{"secret":***}})", R"({"token":""})",
                   R"("token":)", R"("token")", R"("tok)", R"({"x":"token","y":"z"})"}));
}

TEST(RecordedArguments, SecretsOfOtherSystemsOptionsAreMasked) {
  EXPECT_EQ(
      masked({"/password:x", "/Token:a=b", "-Dtoken=x", "-Ddb.password=x", "-Dkey=x", "--jwt", "x",
              "--bearer=x", "--id-jwt=x", "--pin", "1", "/etc/app:x", "-Donkey=x", "--spin=x"}),
      (Words{"/password:***", "/Token:***", "-Dtoken=***", "-Ddb.password=***", "-Dkey=***",
             "--jwt", "***", "--bearer=***", "--id-jwt=***", "--pin", "***", "/etc/app:x",
             "-Donkey=x", "--spin=x"}));
}

TEST(RecordedArguments, WhatOnlyLooksLikeOneIsNot) {
  const Words words{"token",
                    "password",
                    "--tokenizer=fast",
                    "--sort-key=name",
                    "--keys=a,b",
                    "--monkey=x",
                    "a=b=c",
                    "",
                    "=",
                    "--",
                    "-",
                    "--passes=3",
                    "--secretary",
                    "x"};
  EXPECT_EQ(masked(words), words);
}

TEST(RecordedArguments, PasswordsInUrlsAreMasked) {
  EXPECT_EQ(masked({"postgres://me:pa@ss@db:5432/x?a=b", "--url=https://u:p@h/", "http://h:80/a@b",
                    "https://u@h/x", "http://a:b@c http://d:e@f", "://", "x://:@", "a@b:c"}),
            (Words{"postgres://me:***@db:5432/x?a=b", "--url=https://u:***@h/", "http://h:80/a@b",
                   "https://u@h/x", "http://a:***@c http://d:***@f", "://", "x://:***@", "a@b:c"}));
}

TEST(RecordedArguments, AllAndNone) {
  const Words words{"-X", "dev", "-m", "app", "--token", "x"};
  EXPECT_EQ(recorded_arguments(words, record_arguments_of("all"), 4), words);
  EXPECT_EQ(recorded_arguments(words, record_arguments_of("none"), 4),
            (Words{"-X", "dev", "-m", "app"}));
  EXPECT_EQ(record_arguments_of("masked"), RecordArguments::kMasked);
  EXPECT_EQ(record_arguments_of(""), RecordArguments::kMasked);
}

}  // namespace
}  // namespace timeloom
