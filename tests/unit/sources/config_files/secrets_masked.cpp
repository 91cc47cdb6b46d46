/// Secrets in files, keys, comments, variables and command lines: none leaves through any view.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json/writer.hpp"
#include "sources/config_files/config_files_provider.hpp"
#include "unit/sources/config_files/served_set.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::config_files {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The parts of a secret that must not be found anywhere: its lines, or all of it.
std::vector<std::string> traces_of(const std::string& secret) {
  constexpr std::size_t telling = 16;
  std::vector<std::string> all;
  std::string line;
  const auto end_line = [&] {
    if (line.size() >= telling) all.push_back(line);
    line.clear();
  };
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const bool is_end = secret[i] == '\n' || secret[i] == '"' || secret[i] == '\\' || secret[i] == ' ';
    if (is_end) {
      end_line();
    } else {
      line += secret[i];
    }
  }
  end_line();
  if (all.empty()) all.push_back(secret);
  return all;
}

struct masked_set : served_set {
  /// Everything that is said: of each URI what is read, its facts, its entry, and the errors; completions; the log.
  std::string everything(config_files_provider& from, const std::vector<std::string>& uris) {
    std::string all;
    for (const auto& uri : uris) {
      all += text_at(from, uri) + '\n';
      all += fact_at(from, uri, "dev.hondana/stale") + fact_at(from, uri, "dev.hondana/warnings") + '\n';
      describe_request request;
      request.uri = uri;
      const auto entry = from.describe(request);
      all += entry ? entry->name + entry->title + entry->description : entry.error().public_text;
      all += text_at(from, uri + (uri.find('?') == std::string::npos ? "?key=nowhere.at.all" : "&key=nowhere")) + '\n';
    }
    for (const auto& one : listed(from)) all += one + '\n';
    for (const auto& [name, why] : left_out(from)) all += name + why + '\n';
    all += from.health().detail;
    for (const auto& one : log) all += one + '\n';
    return all;
  }
  static void expect_none_of(const std::string& all, const std::string& secret, std::string_view what) {
    for (const auto& trace : traces_of(secret)) {
      EXPECT_EQ(all.find(trace), std::string::npos) << what << ": " << trace << "\nin\n" << all.substr(0, 4000);
      // And as JSON has it.
      const auto quoted = json::quoted(trace);
      EXPECT_EQ(all.find(quoted.substr(1, quoted.size() - 2)), std::string::npos) << what << ": " << quoted;
    }
  }
};

std::string indented(const std::string& text) {
  std::string made = "  ";
  for (const char c : text) (made += c) += c == '\n' ? "  " : "";
  return made;
}

TEST_F(masked_set, shows_no_secret_of_any_kind_in_any_view) {
  std::vector<test::secret_shape> shapes = test::secret_shapes();
  for (auto& one : test::shapes_of_files()) shapes.push_back(std::move(one));
  std::uint64_t seed = 11;
  for (const auto& shape : shapes) {
    test::lots from_lots(++seed);
    const auto one = shape.draw(from_lots);
    const auto other = shape.draw(from_lots);
    // As the file itself, whatever that is in its format; in a comment; and as a text in JSON and YAML.
    write("conf/plain.ini", "[a]\nb = 1\n" + one.text() + "\n");
    write("conf/plain.env", one.text() + "\n");
    write("conf/value.json", "{\"note\": " + json::quoted(one.text()) + ", \"list\": [" + json::quoted(one.text()) + "]}");
    write("conf/block.yaml", "note: |\n" + indented(one.text()) + "\nother: 1\n");
    write("conf/other.json", "{\"note\": " + json::quoted(other.text()) + "}");
    options all;
    all.name = "app";
    all.watch = false;
    all.paths = {(root / "conf").string()};
    all.log = [this](std::string_view line) { log.emplace_back(line); };
    all.layers = {{.name = "a", .file = (root / "conf/value.json").string()},
                  {.name = "b", .file = (root / "conf/other.json").string()},
                  {.name = "env", .kind = layer_options::layer_kind::environment, .prefix = "APP_"},
                  {.name = "flags", .kind = layer_options::layer_kind::flags, .flags = {"--note=" + one.text()}},
                  {.name = "values", .kind = layer_options::layer_kind::values, .values = {{"note", one.text()}}}};
    all.environment = [&one] { return variables{{"APP_NOTE", one.text()}, {"APP_X__Y", one.text()}}; };
    const auto opened = config_files_provider::open(std::move(all));
    ASSERT_TRUE(opened) << opened.error().public_text;
    auto& from = **opened;
    std::vector<std::string> uris{"config://app/merged", "config://app/merged?key=note", "config://app/diff/a..b",
                                  "config://app/diff/a..env", "config://app/diff/flags..merged"};
    for (const auto* name : {"a", "b", "env", "flags", "values"}) uris.push_back(std::string("config://app/layers/") + name);
    for (const auto* name : {"plain.ini", "plain.env", "value.json", "block.yaml", "other.json"}) {
      const auto uri = std::string("config://app/file/") + name;
      uris.insert(uris.end(), {uri, uri + "?format=json", uri + "?key=note", uri + "?key=list.0"});
    }
    auto said = everything(from, uris);
    for (const auto* name : {"plain.ini", "plain.env", "value.json", "block.yaml"}) {
      for (const auto& key : completed(from, "config://app/file/{+path}{?key,format}", "key", "", {{"path", name}}))
        said += key + '\n';
    }
    for (const auto& key : completed(from, "config://app/merged{?key}", "key", "")) said += key + '\n';
    expect_none_of(said, one.secret, shape.name);
    expect_none_of(said, other.secret, shape.name);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(masked_set, shows_nothing_of_what_is_broken) {
  test::lots from_lots(5);
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from_lots);
    write("conf/cut.json", "{\"note\": " + json::quoted(one.text()).substr(0, json::quoted(one.text()).size() - 1));
    write("conf/cut.toml", "note = '''" + one.text());
    write("conf/cut.yaml", "note: [" + one.text());
    const auto from = serve("path = \"conf\"\nwatch = false\n");
    std::vector<std::string> uris;
    for (const auto* name : {"cut.json", "cut.toml", "cut.yaml"}) {
      const auto uri = std::string("config://conf/file/") + name;
      uris.insert(uris.end(), {uri, uri + "?format=json", uri + "?key=note"});
    }
    expect_none_of(everything(*from, uris), one.secret, shape.name);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(masked_set, masks_in_the_file_what_its_keys_tell_to_mask) {
  test::lots from_lots(7);
  const auto word = "correct-horse-" + from_lots.alnum(4);
  const auto code = from_lots.digits(9);
  write("conf/app.yaml", "database:\n  password:\n    - " + word + "\n  pin: 1\n  secret: " + code + "\nport: 8080 # keep\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  const auto as_json = text_at(*from, "config://conf/file/app.yaml?format=json");
  const auto raw = text_at(*from, "config://conf/file/app.yaml");
  // What is masked in one view is masked in the other.
  EXPECT_EQ(raw.find(word) == std::string::npos, as_json.find(word) == std::string::npos) << raw << as_json;
  EXPECT_THAT(as_json, Not(HasSubstr(word)));
  EXPECT_THAT(raw, Not(HasSubstr(word)));
  EXPECT_THAT(raw, HasSubstr("port: 8080 # keep"));
  EXPECT_THAT(as_json, HasSubstr("8080"));
  EXPECT_NE(fact_at(*from, "config://conf/file/app.yaml", "dev.hondana/redacted"), "");
  const auto open = serve("path = \"conf\"\nwatch = false\nredact = false\n");
  EXPECT_EQ(open->traits().masking, secret_masking::none);
  EXPECT_THAT(text_at(*open, "config://conf/file/app.yaml"), HasSubstr(word));
  EXPECT_THAT(text_at(*open, "config://conf/file/app.yaml?format=json"), HasSubstr(word));
}

TEST_F(masked_set, masks_keys_that_are_secrets_wherever_they_show) {
  test::lots from_lots(13);
  const auto token = "ghp_" + from_lots.alnum(36);
  const auto other = "ghp_" + from_lots.alnum(36);
  write("conf/a.json", "{\"tokens\": {\"" + token + "\": {\"port\": 1}, \"" + other + "\": {\"port\": 2}}}");
  write("conf/b.yaml", "tokens:\n  " + token + ":\n    port: 3\n# " + other + "\n");
  const auto from = serve(
      "path = \"conf\"\nwatch = false\n"
      "[[layer]]\nname = \"a\"\nfile = \"conf/a.json\"\n[[layer]]\nname = \"b\"\nfile = \"conf/b.yaml\"\n");
  std::vector<std::string> uris{
      "config://conf/merged",    "config://conf/merged?key=tokens", "config://conf/merged?key=tokens.x",
      "config://conf/diff/a..b", "config://conf/diff/b..merged",    "config://conf/layers/a"};
  for (const auto* name : {"a.json", "b.yaml"}) {
    const auto uri = std::string("config://conf/file/") + name;
    uris.insert(uris.end(), {uri, uri + "?format=json", uri + "?key=tokens", uri + "?key=tokens.y"});
  }
  auto said = everything(*from, uris);
  for (const auto& key : completed(*from, "config://conf/merged{?key}", "key", "")) said += key + '\n';
  for (const auto& key : completed(*from, "config://conf/file/{+path}{?key,format}", "key", "", {{"path", "a.json"}})) {
    said += key + '\n';
  }
  expect_none_of(said, token, "a key");
  expect_none_of(said, other, "a key");
  // Both layers have the same key, and what it is told apart by is not what is shown.
  const auto merged = json_at(*from, "config://conf/merged");
  std::vector<std::string> ports;
  for (const auto& one : *merged.find("from")->as_array()) {
    ports.push_back(*one.find("layer")->as_string() + (one.find("overrides") == nullptr ? "" : " over a"));
  }
  EXPECT_THAT(ports, testing::ElementsAre("b over a", "a"));
}

TEST_F(masked_set, masks_what_kubernetes_calls_secret) {
  test::lots from_lots(15);
  const auto one = from_lots.base64(24);
  write("conf/secret.k8s.yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  plain: " + one + "\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  const auto uri = std::string("config://conf/file/secret.k8s.yaml");
  expect_none_of(everything(*from, {uri, uri + "?format=json", uri + "?key=data.plain", uri + "?key=data"}), one, "a Secret");
}

TEST_F(masked_set, masks_behind_a_byte_order_mark_and_over_line_ends) {
  test::lots from_lots(17);
  const auto one = from_lots.alnum(30);
  for (const std::string front : {"", "\xEF\xBB\xBF"}) {
    for (const std::string end : {"\n", "\r\n"}) {
      write("conf/app.yaml",
            front + "# 日本" + end + "db:" + end + "  password:" + end + "    - " + one + end + "port: 80" + end);
      const auto from = serve("path = \"conf\"\nwatch = false\n");
      const auto uri = std::string("config://conf/file/app.yaml");
      EXPECT_EQ(text_at(*from, uri), front + "# 日本" + end + "db:" + end + "  password:" + end + "    - " +
                                         std::string(30, '*') + end + "port: 80" + end);
      EXPECT_EQ(text_at(*from, uri + "?format=json"), R"({"db":{"password":[")" + std::string(30, '*') + R"("]},"port":80})");
      EXPECT_EQ(*json_at(*from, uri + "?key=port").find("line"), value(5));
    }
  }
}

TEST_F(masked_set, tells_that_a_secret_differs_and_not_how) {
  test::lots from_lots(9);
  const auto one = from_lots.password(16, "\"'\\");
  const auto other = from_lots.password(16, "\"'\\");
  const auto same = from_lots.password(16, "\"'\\");
  write("conf/a.json", "{\"db\": {\"password\": \"" + one + "\", \"api_token\": \"" + same + "\"}}");
  write("conf/b.json", "{\"db\": {\"password\": \"" + other + "\", \"api_token\": \"" + same + "\"}}");
  const auto from = serve(
      "path = \"conf\"\nwatch = false\n"
      "[[layer]]\nname = \"a\"\nfile = \"conf/a.json\"\n[[layer]]\nname = \"b\"\nfile = \"conf/b.json\"\n");
  const auto found = json_at(*from, "config://conf/diff/a..b");
  ASSERT_EQ(found.find("changed")->as_array()->size(), 1u) << found.to_text();
  EXPECT_EQ(*found.at("/changed/0/key"), value("db.password"));
  EXPECT_EQ(*found.at("/changed/0/masked"), value(true));
  EXPECT_EQ(*found.at("/changed/0/from/value"), value(std::string(16, '*')));
  EXPECT_EQ(*found.at("/changed/0/to/value"), value(std::string(16, '*')));
  const auto chain = text_at(*from, "config://conf/merged?key=db.password");
  EXPECT_THAT(chain, HasSubstr("\"overrides\""));
  EXPECT_EQ(chain.find(one), std::string::npos);
}

}  // namespace
}  // namespace hondana::config_files
