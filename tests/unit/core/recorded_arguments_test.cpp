#include "core/text/recorded_arguments.hpp"

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

TEST(RecordedArguments, SecretsInListsOfPairsAreMasked) {
  EXPECT_EQ(masked({"Server=db;User Id=me;Password=x y;Timeout=3", "host=h password='a b' user=me",
                    "--dsn=AccountName=a;AccountKey=k==;X=1", "f(x, key=len, sort_key=2)",
                    "a;tokenizer=fast;passes=3"}),
            (Words{"Server=db;User Id=me;Password=*** y;Timeout=3", "host=h password='***' user=me",
                   "--dsn=AccountName=a;AccountKey=***;X=1", "f(x, key=len, sort_key=2)",
                   "a;tokenizer=fast;passes=3"}));
}

TEST(RecordedArguments, SecretsOfOptionsForHeadersAndUsersAreMasked) {
  EXPECT_EQ(masked({"--header", "X-Api-Key:k", "-H", "Authorization: Bearer abc", "-H", "Accept: a",
                    "--header=Key:k", "-HCookie: a=b", "X-Auth-Token:abc",
                    "Authorization:", "Bearer", "abc", "rest"}),
            (Words{"--header", "X-Api-Key:***", "-H", "Authorization: ***", "-H", "Accept: a",
                   "--header=Key:***", "-HCookie: ***", "X-Auth-Token:***",
                   "Authorization:", "Bearer", "***", "rest"}));
  EXPECT_EQ(masked({"-u", "me:pw", "--user=me:pw", "-ume:pw", "--proxy-user", "me:p:w", "-u",
                    "1000:1000", "-u", "http://h:80", "-u", "app.py", "-u", "me:"}),
            (Words{"-u", "me:***", "--user=me:***", "-ume:***", "--proxy-user", "me:***", "-u",
                   "1000:1000", "-u", "http://h:80", "-u", "app.py", "-u", "me:"}));
  EXPECT_EQ(masked({"-b", "sid=abc; a=b", "-b", "32", "-b", "=x", "-backend=gpu", "PHPSESSID=abc"}),
            (Words{"-b", "sid=***", "-b", "32", "-b", "=x", "-backend=gpu", "PHPSESSID=***"}));
}

TEST(RecordedArguments, FurtherNamesOfSecrets) {
  EXPECT_EQ(
      masked({"--cookie", "a=b", "--otp", "1", "--passcode", "1", "--secretkey=x", "--signature=x",
              "--pw", "x", "--db-pw=x", "/x?sig=1&X-Amz-Signature=2&v=3", "--no-cookie", "x"}),
      (Words{"--cookie", "***", "--otp", "***", "--passcode", "***", "--secretkey=***",
             "--signature=***", "--pw", "***", "--db-pw=***", "/x?sig=***&X-Amz-Signature=***&v=3",
             "--no-cookie", "x"}));
}

TEST(RecordedArguments, SecretsAreKnownByTheirForm) {
  const std::string github = "ghp_" + std::string(36, 'a'),
                    openai = "sk-proj-" + std::string(20, 'A') + "b1";
  const std::string web = "eyJhbGciOi.eyJzdWIi.c2lnbmF0";
  EXPECT_EQ(masked({github, "x=" + github + "!", "https://" + github + "@github.com/a", openai,
                    "github_pat_" + std::string(30, 'a'), "xoxb-1234567890-a",
                    "AKIA" + std::string(16, 'A'), "glpat-" + std::string(20, 'x'),
                    "hf_" + std::string(17, 'a') + "BCD", "a " + web,
                    "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n",
                    "https://0123456789abcdef0123@sentry.io/1"}),
            (Words{"***", "x=***!", "https://***@github.com/a", "***", "***", "***", "***", "***",
                   "***", "a ***", "***\n", "https://***@sentry.io/1"}));
}

TEST(RecordedArguments, TokensWithoutCapitalsAreKnownByTheirForm) {
  const std::string hex = "0123456789abcdef";
  for (const std::string& token :
       {"sk-" + hex + hex, "sk-or-v1-" + hex + hex + hex,
        std::string("sk-abcdefghijklmnopqrstuvwxyz0123456789abcdefghij"),
        std::string("hf_abcdefghijklmnopqrstuvwxyzabcdefgh"), "dop_v1_" + hex + hex + hex + hex,
        "SG." + hex + "Ab_c-d." + hex + hex, "ya29.a0Af-" + hex, "sk_test_" + hex}) {
    EXPECT_EQ(masked({token, "x=" + token + "!"}), (Words{"***", "x=***!"})) << token;
  }
}

TEST(RecordedArguments, FurtherPlacesOfSecrets) {
  EXPECT_EQ(masked({"-e",
                    "DB_PASS=x",
                    "--db-pass",
                    "x",
                    "--dbpass=x",
                    "--storepass=x",
                    "--keypass",
                    "x",
                    "--psk",
                    "x",
                    "--totp",
                    "x",
                    "--pat",
                    "x",
                    "--sessionid=x",
                    "https://h/?access%5Ftoken=x",
                    "//u:x@h/",
                    "user:x@h:5432/db",
                    "user:p@ss@h:5432",
                    "image:2.4.0-cu124@sha256:9a1f",
                    "-U",
                    "u%x",
                    "-Uu%x",
                    "Bearer x",
                    R"(a {"token":"x"} b)",
                    "password : x"}),
            (Words{"-e",
                   "DB_PASS=***",
                   "--db-pass",
                   "***",
                   "--dbpass=***",
                   "--storepass=***",
                   "--keypass",
                   "***",
                   "--psk",
                   "***",
                   "--totp",
                   "***",
                   "--pat",
                   "***",
                   "--sessionid=***",
                   "https://h/?access%5Ftoken=***",
                   "//u:***@h/",
                   "user:***@h:5432/db",
                   "user:***@h:5432",
                   "image:2.4.0-cu124@sha256:9a1f",
                   "-U",
                   "u%***",
                   "-Uu%***",
                   "Bearer ***",
                   R"(a {"token":"***"} b)",
                   "password : ***"}));
}

TEST(RecordedArguments, SecretsOfPythonsDictsAndOfHooksAreMasked) {
  EXPECT_EQ(
      masked({"{'password': 'x', 'n': 1}", "https://hooks.slack.com/services/T/B/x?a",
              "https://discord.com/api/webhooks/1/x", "/back?code=4f0abcdefghijklmn1&state=2",
              "Basic dXNlcjpwYXNz", "--basic-auth", "me:x", "--passwords=x", "--seed-phrase", "x"}),
      (Words{"{'password': '***', 'n': 1}", "https://hooks.slack.com/services/***?a",
             "https://discord.com/api/webhooks/***", "/back?code=***&state=2", "Basic ***",
             "--basic-auth", "***", "--passwords=***", "--seed-phrase", "***"}));
}

TEST(RecordedArguments, SecretsInTextsThatAreQuotedOnceMoreAreMasked) {
  EXPECT_EQ(masked({R"({\"token\":\"abc\",\"n\":1})", "back=/a%3Fpassword%3Dabc%26n%3D1",
                    R"(--name=a\ b)", "100%25", R"({\"n\":1})"}),
            (Words{R"({"token":"***","n":1})", "back=/a?password=***&n=1", R"(--name=a\ b)",
                   "100%25", R"({\"n\":1})"}));
}

TEST(RecordedArguments, WhatIsLikeTheseStays) {
  const Words words{"sk-learn-example-name",
                    "sk-2024-long-name-of-an-example-1",
                    "--two-pass",
                    "x",
                    "--bypass=1",
                    "--lowpass=3",
                    "hf_transformersconfiguration",
                    "a//b:c@d",
                    "me:x@host",
                    "at 10:30 @ home:5",
                    "Bearer of bad news",
                    "100%x",
                    "a : b",
                    "SG.short",
                    "?code=200&page=2",
                    "Basic facts of life",
                    "it's a 'word': no",
                    "?a%5F=b",
                    "-U",
                    "user"};
  EXPECT_EQ(masked(words), words);
}

TEST(RecordedArguments, OrdinaryArgumentsStay) {
  const Words words{"--tokenizer",
                    "fast",
                    "--passes",
                    "3",
                    "--key-size",
                    "2048",
                    "--max-tokens",
                    "5",
                    "--signature-version=v4",
                    "--cookie-jar",
                    "file",
                    "-u",
                    "app.py",
                    "risk-assessment-of-A-long-Name-1",
                    "sk-learn-pipelines-and-more",
                    "hf_model_name",
                    "eyJust.a.name",
                    "https://someone@host/x",
                    "xoxb",
                    "a:b",
                    "12:30",
                    "C:\\x"};
  EXPECT_EQ(masked(words), words);
}

TEST(RecordedArguments, AMaskedValueIsFoundAgain) {
  const Words secrets = secrets_in({"app.py", "--password", "hunter22", "--token=process",
                                    "--pin=1", "https://u:hunter22-long@h"});
  EXPECT_EQ(secrets, (Words{"hunter22-long", "hunter22", "process"}));
  EXPECT_EQ(without_secrets("f('hunter22-long', hunter22x) process process_all", secrets),
            "f('***', ***x) *** process_all");
  EXPECT_EQ(without_secrets("plain", secrets), "plain");
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
