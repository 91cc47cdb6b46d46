/// Secrets in trees: nothing of the corpus stays in one, however it is written.
#include "text/located/masking.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"
#include "text/located/format.hpp"
#include "text/located/node.hpp"
#include "text/secrets/scanner.hpp"
#include "unit/text/located/told.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using located::config_format;
using located::mask_secrets;

constexpr std::array readable_formats{config_format::toml,   config_format::yaml,   config_format::json,
                                      config_format::ini,    config_format::dotenv, config_format::properties,
                                      config_format::systemd};

/// The lines of a secret that are long enough to be told from other text; all of it where it is one.
std::vector<std::string> parts_of(const std::string& secret) {
  constexpr std::size_t telling = 12;
  if (secret.find('\n') == std::string::npos) return {secret};
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < secret.size();) {
    const auto end = std::min(secret.find_first_of("\r\n", begin), secret.size());
    if (end - begin >= telling) out.push_back(secret.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

void collect(const located::node& from, std::string& out) {
  out += from.text + '\n';
  for (const auto& item : from.items) collect(item, out);
  for (const auto& [key, at, value] : from.members) {
    out += key + '\n';
    collect(value, out);
  }
}

std::string all_texts(const located::document& of) {
  std::string out;
  collect(of.root, out);
  for (const auto& remark : of.warnings) out += remark + '\n';
  return out;
}

/// A part of the secret that a text has, for people; nothing: all is well.
std::optional<std::string> leak_in(const std::string& shown, const std::string& secret, const std::string& text) {
  for (const auto& part : parts_of(secret)) {
    if (shown.find(part) != std::string::npos) return part + " of: " + text;
  }
  return std::nullopt;
}

/// What leaks of a secret after masking, or by the error where a text is none.
std::optional<std::string> leak_of(config_format how, const std::string& text, const std::string& secret) {
  auto read = located::read(how, text);
  if (read) mask_secrets(*read, text);
  const auto leak = leak_in(read ? all_texts(*read) : read.error().public_text + read.error().private_text, secret, text);
  return leak ? std::optional(std::string(name_of(how)) + " shows " + *leak) : leak;
}

/// What an error or a remark says of one.
std::optional<std::string> word_of(config_format how, const std::string& text, const std::string& secret,
                                   std::size_t& refused) {
  const auto read = located::read(how, text);
  std::string said;
  if (read) {
    for (const auto& remark : read->warnings) said += remark + '\n';
  } else {
    ++refused;
    said = read.error().public_text + read.error().private_text;
  }
  return leak_in(said, secret, text);
}

bool is_one_line(const std::string& text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

std::string without_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string escaped_for_java(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      if (c == '\\' || (out.empty() && (c == ' ' || c == '\t'))) out += '\\';
      out += c;
    }
  }
  return out;
}

/// All the ways that a format has to write a text as a value.
std::vector<std::string> written_in(config_format how, const std::string& text) {
  const auto quoted = json::quoted(text);
  std::vector<std::string> out;
  switch (how) {
    case config_format::toml:
      out.push_back("note = " + quoted + "\n");
      out.push_back("[a]\nlist = [1, " + quoted + "]\n");
      if (text.find("'''") == std::string::npos) out.push_back("note = '''\n" + text + "'''\n");
      break;
    case config_format::yaml: {
      out.push_back("note: " + quoted + "\n");
      out.push_back("- {a: [" + quoted + "]}\n");
      std::string block = "note: |\n  ";
      for (const char c : text) block += c == '\n' ? std::string("\n  ") : std::string(1, c);
      out.push_back(block + "\nnext: 1\n");
      block.replace(6, 1, ">-");
      out.push_back(block + "\nnext: 1\n");
      break;
    }
    case config_format::json:
      out.push_back("{\"note\": " + quoted + "}");
      out.push_back("[[" + quoted + "]]");
      break;
    case config_format::properties:
      out.push_back("note = " + escaped_for_java(text) + "\n");
      break;
    case config_format::dotenv:
      for (const char quote : {'"', '\'', '`'}) {
        if (text.find(quote) == std::string::npos) out.push_back("NOTE=" + std::string(1, quote) + text + quote + "\n");
      }
      [[fallthrough]];
    case config_format::ini:
    case config_format::systemd:
    case config_format::gitconfig:
    case config_format::editorconfig:
    case config_format::desktop:
    case config_format::configparser:
    case config_format::compose_env:
      if (is_one_line(without_end(text))) out.push_back("[a]\nnote = " + without_end(text) + "\n");
      if (how == config_format::dotenv && !out.empty()) out.back().erase(0, out.back().starts_with("[a]\n") ? 4 : 0);
      break;
  }
  return out;
}

std::vector<test::secret_shape> all_shapes() {
  auto all = test::secret_shapes();
  for (auto& one : test::shapes_of_files()) all.push_back(std::move(one));
  return all;
}

TEST(masked_trees, keep_no_secret_that_a_value_has) {
  test::lots from(11);
  std::size_t tried = 0;
  for (const auto& shape : all_shapes()) {
    const auto one = shape.draw(from);
    for (const auto how : readable_formats) {
      for (const auto& text : written_in(how, one.text())) {
        const auto leak = leak_of(how, text, one.secret);
        EXPECT_FALSE(leak) << shape.name << ": " << leak.value_or("");
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 1500u);
}

TEST(masked_trees, keep_no_secret_that_a_file_has) {
  test::lots from(12);
  for (const auto& shape : all_shapes()) {
    const auto one = shape.draw(from);
    for (const auto how : readable_formats) {
      for (const std::string front : {"", "\n# a comment\n", "a = 1\n", "[a]\n", "{\n", "- "}) {
        const auto leak = leak_of(how, front + one.text(), one.secret);
        EXPECT_FALSE(leak) << shape.name << ": " << leak.value_or("");
      }
    }
  }
}

TEST(masked_trees, keep_no_secret_in_a_key) {
  test::lots from(13);
  for (const auto& shape : all_shapes()) {
    const auto one = shape.draw(from);
    if (!json::is_utf8(one.text())) continue;
    const auto quoted = json::quoted(one.text());
    for (const auto& [how, text] : std::vector<std::pair<config_format, std::string>>{
             {config_format::json, "{" + quoted + ": 1, \"a\": {" + quoted + ": {}}}"},
             {config_format::yaml, quoted + ": 1\n"},
             {config_format::toml, quoted + " = 1\n[a." + quoted + "]\n"}}) {
      const auto leak = leak_of(how, text, one.secret);
      EXPECT_FALSE(leak) << shape.name << ": " << leak.value_or("");
    }
  }
}

TEST(errors_of_formats, say_no_secret_of_what_is_half_written) {
  test::lots from(14);
  std::size_t refused = 0;
  for (const auto& shape : all_shapes()) {
    const auto one = shape.draw(from);
    for (const auto how : readable_formats) {
      for (const auto& text : written_in(how, one.text())) {
        const auto at = std::min(text.find(one.secret.substr(0, 8)), text.size() / 2);
        for (const auto& broken :
             {text.substr(0, text.size() - 1), text.substr(0, text.size() - 2), text.substr(0, at + one.secret.size()),
              text.substr(0, at) + one.secret + "\n}}]] " + one.secret, "[" + one.secret + "\n" + text, text + text,
              one.secret + "\n" + text, "a = " + one.secret + text, "*" + one.secret}) {
          const auto leak = word_of(how, broken, one.secret, refused);
          EXPECT_FALSE(leak) << shape.name << ": " << name_of(how) << " says " << leak.value_or("");
        }
      }
    }
  }
  EXPECT_GT(refused, 2000u);
}

std::string drawn_password(test::lots& from) { return from.alnum(10) + "aB." + from.digits(1); }

std::string masked_json(config_format how, const std::string& text, std::size_t* count = nullptr) {
  auto read = located::read(how, text);
  if (!read) return read.error().public_text;
  const auto masked = mask_secrets(*read, text);
  if (count != nullptr) *count = masked;
  return located::json_text(read->root);
}

TEST(masked_trees, hide_what_keys_say_is_secret) {
  test::lots from(15);
  const auto word = drawn_password(from);
  const std::string stars(word.size(), '*');
  const auto expected = R"({"db":{"host":"h","password":")" + stars + R"(","port":1}})";
  EXPECT_EQ(masked_json(config_format::toml, "[db]\nhost = 'h'\npassword = '" + word + "'\nport = 1\n"), expected);
  EXPECT_EQ(masked_json(config_format::yaml, "db:\n  host: h\n  password: " + word + "\n  port: 1\n"), expected);
  EXPECT_EQ(masked_json(config_format::json, R"({"db": {"host": "h", "password": ")" + word + R"(", "port": 1}})"), expected);
  EXPECT_EQ(masked_json(config_format::ini, "[db]\npassword = \"" + word + "\" ; mine\n"),
            R"({"db":{"password":")" + stars + "\"}}");
  EXPECT_EQ(masked_json(config_format::dotenv, "export DB_PASSWORD=" + word), R"({"DB_PASSWORD":")" + stars + "\"}");
  EXPECT_EQ(masked_json(config_format::properties, "db.password: " + word), R"({"db.password":")" + stars + "\"}");
  EXPECT_EQ(masked_json(config_format::systemd, "[Service]\nEnvironment=\"DB_PASSWORD=" + word + "\"\n"),
            R"({"Service":{"Environment":"\"DB_PASSWORD=)" + stars + "\\\"\"}}");
  std::size_t count = 0;
  EXPECT_EQ(masked_json(config_format::json, R"({"passwords": [")" + word + "\", \"" + word + R"("], "user": "me"})", &count),
            R"({"passwords":[")" + stars + "\",\"" + stars + R"("],"user":"me"})");
  EXPECT_EQ(count, 2u);
}

TEST(masked_trees, hide_replaced_values_behind_a_byte_order_mark) {
  const std::string first = "aB3xK9pq", second = "Zt7wQ2mn";
  const std::vector<std::pair<config_format, std::string>> cases{
      {config_format::yaml, "secrets:\n  db: " + first + "\n  db: " + second + "\n"},
      {config_format::json, R"({"secrets": {"db": ")" + first + R"(", "db": ")" + second + R"("}})"},
      {config_format::ini, "[secrets]\ndb = " + first + "\ndb = " + second + "\n"},
      {config_format::dotenv, "DB_SECRET=" + first + "\nDB_SECRET=" + second + "\n"},
      {config_format::properties, "secrets.db=" + first + "\nsecrets.db=" + second + "\n"},
  };
  for (const auto& [format, content] : cases) {
    for (const auto* mark : {"", "\xEF\xBB\xBF"}) {
      auto text = mark + content;
      auto document = located::read(format, text);
      ASSERT_TRUE(document) << document.error().public_text;
      std::vector<secrets::span> spans;
      mask_secrets(*document, text, spans);
      for (const auto& span : spans) text.replace(span.begin, span.end - span.begin, span.end - span.begin, '*');
      auto expected = mark + content;
      for (const auto& secret : {first, second}) expected.replace(expected.find(secret), secret.size(), secret.size(), '*');
      EXPECT_EQ(text, expected);
    }
  }
}

TEST(masked_trees, hide_what_is_escaped_or_stands_far_from_its_key) {
  test::lots from(16);
  const auto word = drawn_password(from);
  std::string escaped;
  for (const char c : word) {
    constexpr std::string_view digits = "0123456789abcdef";
    escaped += "\\u00" + std::string{digits[static_cast<unsigned char>(c) / 16], digits[static_cast<unsigned char>(c) % 16]};
  }
  const std::string stars(word.size(), '*');
  EXPECT_EQ(masked_json(config_format::json, R"({"pass\u0077ord": ")" + escaped + "\"}"), R"({"password":")" + stars + "\"}");
  EXPECT_EQ(masked_json(config_format::yaml, "password: &p\n\n  # a comment\n\n  \"" + word + "\"\nother: *p\n"),
            R"({"password":")" + stars + R"(","other":")" + stars + "\"}");
  EXPECT_EQ(masked_json(config_format::yaml, "env:\n- value: \"" + word + "\"\n  valueFrom: null\n  name: DB_PASSWORD\n"),
            R"({"env":[{"value":")" + stars + R"(","valueFrom":null,"name":"DB_PASSWORD"}]})");
  EXPECT_EQ(masked_json(config_format::yaml, "db_password:\n  default: \"" + word + "\"\n"),
            R"({"db_password":{"default":")" + stars + "\"}}");
  const auto lines = "password: |\n  " + word + "\n  second line of it\n";
  EXPECT_EQ(masked_json(config_format::yaml, lines), R"({"password":")" + std::string(word.size() + 19, '*') + "\"}");
}

TEST(masked_trees, hide_all_of_a_kubernetes_secret_and_of_nothing_else) {
  const std::string text =
      "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\ndata:\n  a: aGVsbG8=\nstringData: {b: hi, c: 5}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\ndata: {a: hello}\n";
  auto read = located::read(config_format::yaml, text);
  ASSERT_TRUE(read);
  std::vector<secrets::span> in_text;
  EXPECT_EQ(mask_secrets(*read, text, in_text), 3u);
  EXPECT_EQ(
      located::json_text(read->root),
      R"([{"apiVersion":"v1","kind":"Secret","metadata":{"name":"app"},"data":{"a":"********"},"stringData":{"b":"**","c":"*"}},)"
      R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"hello"}}])");
  auto masked = text;
  for (const auto& one : in_text) masked.replace(one.begin, one.end - one.begin, one.end - one.begin, '*');
  EXPECT_EQ(masked.substr(0, 114),
            "apiVersion: v1\nkind: Secret\nmetadata: {name: app}\ndata:\n  a: ********\nstringData: {b: **, c: "
            "*}\n---\napiVersion: v1");
}

TEST(masked_trees, mask_only_the_secret_where_the_value_reads_as_it_is_written) {
  test::lots from(17);
  const auto word = drawn_password(from);
  const std::string stars(word.size(), '*');
  const auto block = "config: |\n  host = h\n  password = " + word + "\n  port = 5\n";
  EXPECT_EQ(masked_json(config_format::yaml, block), R"({"config":"host = h\npassword = )" + stars + "\\nport = 5\\n\"}");
  const auto url = "url = 'postgres://me:" + word + "@h/db'\n";
  EXPECT_EQ(masked_json(config_format::toml, url), R"({"url":"postgres://me:)" + stars + "@h/db\"}");
}

TEST(masked_trees, keep_keys_apart_that_became_the_same) {
  test::lots from(18);
  const auto one = "ghp_" + from.alnum(36);
  const auto other = "ghp_" + from.alnum(36);
  const auto stars = "ghp_" + std::string(36, '*');
  EXPECT_EQ(masked_json(config_format::json, "{\"" + one + "\": 1, \"" + other + "\": 2}"),
            "{\"" + stars + "\":1,\"" + stars + "#2\":2}");
}

TEST(masked_trees, leave_what_is_no_secret) {
  for (const std::string text :
       {R"({"name":"web","version":"1.2.3","port":8080,"url":"https://example.com/a?b=c","keys":["a","b"]})",
        R"({"password":"${DB_PASSWORD}","token":null,"secretName":"app-tls","tokens":[1,2]})"}) {
    std::size_t count = 7;
    EXPECT_EQ(masked_json(config_format::json, text, &count), text);
    EXPECT_EQ(count, 0u);
  }
}

}  // namespace
