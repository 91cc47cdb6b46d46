/// Secrets in texts that stand in JSON, with its escapes.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/value.hpp>

#include "text/secrets/redactor.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using secrets::masking_policy;
using secrets::redactor;
using test::lots;

std::string masked_json(std::string text) {
  redactor(masking_policy::text, text).mask(text);
  return text;
}

std::string in_json(const std::string& text) { return value(value::object{{"text", text}}).to_text(); }

TEST(secrets_within_json, are_masked_so_that_it_stays_json) {
  for (const auto& shape : test::secret_shapes()) {
    lots from(77);
    for (int i = 0; i < 20; ++i) {
      const auto one = shape.draw(from);
      for (const auto& [before, after] :
           {std::pair<std::string, std::string>{"", ""}, {"x = \"", "\";\n"}, {"say '", "'\n"}, {"a\n", "\nb\n"}}) {
        const auto once = masked_json(in_json(before + one.text() + after));
        EXPECT_TRUE(value::parse(once)) << shape.name << ": " << once;
        EXPECT_EQ(masked_json(once), once) << shape.name;
      }
    }
  }
}

TEST(secrets_within_json, of_connection_strings_end_with_their_escaped_quotes) {
  for (const auto& [before, secret, after] :
       std::vector<std::array<std::string, 3>>{{"var c = \"Server=db;User Id=app;Password=", "S3cretPw", "\";"},
                                               {"postgres \"host=db user=app password=", "S3cretPw", "\""},
                                               {"export X=\"host=db;pwd=", "S3cretPw", "\""},
                                               {"Server=db;Password=\"", "S3cretPw", "\";Timeout=3"},
                                               {"Server=db;Password=", "S3cret\\", "\";Timeout=3"},
                                               {"Server=db;Password=", "{S3cr", ""}}) {
    const auto once = masked_json(in_json(before + secret + after));
    const auto read = value::parse(once);
    ASSERT_TRUE(read) << once;
    const auto* text = read->find("text")->as_string();
    EXPECT_TRUE(text->starts_with(before)) << once;
    EXPECT_TRUE(text->ends_with(after)) << once;
    EXPECT_EQ(text->find("S3cr"), std::string::npos) << once;
  }
  EXPECT_EQ(masked_json(in_json("password = \"\"")), in_json("password = \"\""));
}

TEST(secrets_within_json, of_connection_strings_in_braces_end_with_the_brace_unless_their_string_does) {
  for (const auto& [before, secret, after] :
       std::vector<std::array<std::string, 3>>{{"Server=y;PWD={", "cdef;SECRET3\"", "};Timeout=3"},
                                               {"Server=y;PWD={", "ab\":cdefSECRET1", "};Timeout=3"},
                                               {"Server=y;PWD={", "ab\",\"cdefSECRET2", "};Timeout=3"},
                                               {"say \"so\", Server=y;PWD={", "ab\":cdefSECRET1", "};Timeout=3"},
                                               {std::string(300, '-') + " Server=y;PWD={", "ab\":cdefSECRET1", "};Timeout=3"},
                                               {"Driver={X};Server=a;Uid=b;Pwd={", "aB3}}x;9kQzLSECRET4", "};Timeout=3"},
                                               {"\"Server=x;PWD={", "hun\\\"ter2abc", "};Timeout=3\""}}) {
    const auto text = before + secret + after;
    EXPECT_EQ(masked_json(text), before + std::string(secret.size(), '*') + after);
    const auto once = masked_json(in_json(text));
    const auto read = value::parse(once);
    ASSERT_TRUE(read) << once;
    EXPECT_EQ(read->find("text")->as_string()->find("SECRET"), std::string::npos) << once;
    EXPECT_EQ(read->find("text")->as_string()->find("ter2abc"), std::string::npos) << once;
  }
  // In a long line of JSON, too.
  value::array many;
  for (int i = 0; i < 40; ++i) many.emplace_back("Server=y;Password={S3cr" + std::to_string(i));
  const auto once = masked_json(value(std::move(many)).to_text());
  EXPECT_TRUE(value::parse(once)) << once;
  EXPECT_EQ(once.find("S3cr"), std::string::npos) << once;
}

TEST(secrets_within_json, of_connection_strings_that_are_cut_off_end_with_their_string) {
  const std::string cut = "Driver=" + std::string(170, 'd') + ";Server=a;Pwd={Zk9pQ2vT";
  const value inner(value::object{{"msg", cut}, {"host", "db1"}, {"level", "error"}});
  for (const auto& text : {inner.to_text(), value(value::object{{"text", inner.to_text()}}).to_text()}) {
    const auto once = masked_json(text);
    EXPECT_EQ(once.find("Zk9p"), std::string::npos) << once;
    EXPECT_NE(once.find("db1"), std::string::npos) << once;
    const auto read = value::parse(once);
    ASSERT_TRUE(read) << once;
    const auto* within = read->find("text");
    EXPECT_TRUE(within == nullptr || value::parse(*within->as_string())) << once;
  }
  const value near(value::object{{"msg", "Server=a;Pwd={Zk9pQ2vT"}, {"host", "db1"}});
  const auto once = masked_json(value(value::object{{"text", near.to_text()}}).to_text());
  EXPECT_EQ(once.find("Zk9p"), std::string::npos) << once;
  EXPECT_NE(once.find("db1"), std::string::npos) << once;
}

TEST(secrets_within_json, in_the_names_of_members_leave_as_many_members) {
  const std::string front = "ghp_";
  const auto masked = secrets::redact_value(
      value(value::object{{front + std::string(35, 'x') + "Qz7a", 1}, {front + std::string(35, 'x') + "Qz7b", 2}}),
      masking_policy::text);
  ASSERT_EQ(masked.as_object()->size(), 2u);
  EXPECT_TRUE(value::parse(masked.to_text())) << masked.to_text();

  // And as many as there may be, in no more than linear time: the square of it would take hours.
  lots from(5);
  value::object many;
  for (int i = 0; i < 100'000; ++i) many.emplace_back(front + from.alnum(36), i);
  EXPECT_TRUE(value::parse(secrets::redact_value(value(std::move(many)), masking_policy::text).to_text()));
}

}  // namespace
