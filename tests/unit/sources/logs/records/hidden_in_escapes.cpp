/// Secrets that escapes, control bytes and ill-formed bytes would hide.
#include <re2/re2.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/masking.hpp"
#include "unit/sources/logs/records/made_log.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::records {
namespace {

using test::lots;

std::string as_units(std::string_view text) {
  std::string out;
  for (const char c : text) {
    std::array<char, 8> unit{};
    (void)std::snprintf(unit.data(), unit.size(), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    out += unit.data();
  }
  return out;
}

std::string quoted_again(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

struct hidden {
  std::string record;
  std::string shown;  // what of the secret would be seen
};

std::vector<hidden> hidden_records(lots& from) {
  const auto password = from.alnum(15) + "7q";
  const auto once = R"({"password":")" + password + "\"}";
  return {
      {R"({"level":"info","msg":"login password\u003d)" + password + R"( ok"})", password},
      {R"({"level":"info","msg":"{\u0022password\u0022:\u0022)" + password + R"(\u0022}"})", password},
      {R"({"level":"info","msg":"url postgres:\/\/bob:)" + password + R"(@db\/x"})", password},
      {R"({"level":"info","url":"https://h/x?a\u003d1\u0026access_token\u003d)" + password + "\"}", password},
      {R"({"level":"info","msg":")" + quoted_again(once) + "\"}", password},
      {R"({"level":"info","msg":")" + quoted_again(R"({"inner":")" + quoted_again(once) + "\"}") + "\"}", password},
      {R"({"level":"info","pass\u0077ord":")" + password + "\"}", password},
      {R"({"level":"info","msg":"password=)" + as_units(password) + "\"}", as_units(password)},
      {R"({"log":"\u001b[36mpassword=\u001b[0m)" + password + R"(\n","stream":"stdout"})", password},
      {"<13>app: {\"msg\":\"password\\u003d" + password + "\"}", password},
  };
}

TEST(hidden_secrets, in_escapes_of_json_are_masked_in_records_and_fields) {
  lots from(201);
  for (const auto& one : hidden_records(from)) {
    made_log made;
    const std::string first = one.record.starts_with('{') ? "{\"level\":\"info\",\"msg\":\"a\"}\n" : "<13>app: a\n";
    made.write("app.log", first + one.record + "\n");
    const auto log = made.open();
    auto page = page_of(*log);
    ASSERT_EQ(page.records.size(), 2u);
    const auto& text = page.records[0].text;
    EXPECT_EQ(text.find(one.shown), std::string::npos) << text;
    EXPECT_NE(text.find("****"), std::string::npos) << text;
    EXPECT_GE(page.masked_count, 1u);
    EXPECT_EQ(text.size(), one.record.size());
    const auto field = find_field(text, "msg");
    const auto plain = one.shown.starts_with('\\') ? decode_value('"' + one.shown + '"') : one.shown;
    if (field) {
      EXPECT_EQ(field->find(plain), std::string::npos) << *field;
    }
    for (const auto& each : walked(*log)) EXPECT_EQ(each.text.find(one.shown), std::string::npos);
    // Nor by trying.
    log_query what;
    what.grep = re2::RE2::QuoteMeta(one.shown.substr(0, 6));
    EXPECT_TRUE(page_of(*log, what).records.empty());
    what.grep = "^[^" + one.shown.substr(one.shown.size() - 2, 1) + "]*info.*$|" + one.shown.substr(one.shown.size() - 3);
    const auto tried = page_of(*log, what).records.size();
    made.write("app.log", first + text + "\n");
    EXPECT_EQ(tried, page_of(*made.open(), what).records.size());
  }
}

TEST(hidden_secrets, leave_what_escapes_stand_in_otherwise) {
  for (std::string text : {R"({"msg":"C:\\new\\table says \"no\" \u003d 5","path":"\/a\/b"})", "a\\", "\\u00", "\\u12\\",
                           "back\\slash \xE2\x90\x80 picture \xEF\xBF\xBD"}) {
    const auto before = text;
    EXPECT_EQ(mask_hidden_secrets(text, true), 0u);
    EXPECT_EQ(text, before);
  }
}

TEST(hidden_secrets, with_control_and_ill_formed_bytes_inside_are_masked) {
  lots from(203);
  const std::string nul(1, '\0');
  for (const auto& shape : test::secret_shapes()) {
    const auto drawn = shape.draw(from);
    if (drawn.secret.size() < 24 || drawn.secret.find_first_of("\n\r") != std::string::npos) continue;
    const auto half = drawn.secret.size() / 2;
    // What is found without them is what has to be found with them.
    made_log plain;
    plain.write("app.log", drawn.text() + "\n");
    if (page_of(*plain.open()).records[0].text.find(drawn.secret.substr(half)) != std::string::npos) continue;
    for (const auto& amid : {nul, std::string("\x01"), std::string("\xFF"), std::string("\x1B[0m"), std::string("\x7F")}) {
      made_log made;
      made.write("app.log",
                 drawn.before + drawn.secret.substr(0, half) + amid + drawn.secret.substr(half) + drawn.after + "\n");
      const auto page = page_of(*made.open());
      ASSERT_FALSE(page.records.empty());
      for (const auto& one : page.records)
        EXPECT_EQ(one.text.find(drawn.secret.substr(half)), std::string::npos) << shape.name << ": " << one.text;
    }
  }
}

TEST(hidden_secrets, are_masked_before_a_record_is_cut) {
  lots from(207);
  for (std::size_t shown = 5; shown < 20; ++shown) {
    const auto password = from.alnum(30);
    const std::string front = R"({"msg":"login postgres:\/\/bob:)";
    made_log made;
    made.write("app.log", front + password +
                              R"(@db\/x"})"
                              "\n");
    read_budget most;
    most.max_record_bytes = front.size() + shown;
    const auto page = page_of(*made.open(), {}, most);
    ASSERT_EQ(page.records.size(), 1u);
    EXPECT_EQ(page.records[0].text, front + std::string(shown, '*'));
  }
}

TEST(hidden_secrets, are_sought_in_linear_time_however_deep_the_escapes_are) {
  lots from(211);
  std::string text(1u << 20, '\\');
  text += "password=" + from.alnum(20);
  EXPECT_GT(mask_hidden_secrets(text, true), 0u);
  std::string letters;
  while (letters.size() < (1u << 20)) letters += from.alnum(1) + "\xE2\x90\x80\\\\\\u001b[";
  EXPECT_EQ(mask_hidden_secrets(letters, false), 0u);
}

}  // namespace
}  // namespace hondana::records
