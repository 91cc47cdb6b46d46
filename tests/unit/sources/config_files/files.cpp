/// Files of a set: which there are, what they give, and where they never lead.
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr std::string_view unit_text =
    "# Written for this test.\n"
    "[Unit]\n"
    "Description=Frontend of the shop\n"
    "After=network-online.target\n"
    "After=postgresql.service\n"
    "\n"
    "[Service]\n"
    "Environment=MODE=production\n"
    "ExecStart=/usr/bin/shop --port 8080 \\\n"
    "  --workers 4\n"
    "Restart=on-failure\n"
    "\n"
    "[Install]\n"
    "WantedBy=multi-user.target\n";

constexpr std::string_view manifest_text =
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata:\n"
    "  name: shop\n"
    "  labels:\n"
    "    app.kubernetes.io/name: shop\n"
    "spec:\n"
    "  replicas: 3\n"
    "  template:\n"
    "    spec:\n"
    "      containers:\n"
    "        - name: web\n"
    "          image: registry.example/shop:1.4.2\n"
    "          ports:\n"
    "            - containerPort: 8080\n"
    "---\n"
    "apiVersion: v1\n"
    "kind: Service\n"
    "metadata:\n"
    "  name: shop\n"
    "spec:\n"
    "  ports:\n"
    "    - port: 80\n"
    "      targetPort: 8080\n";

struct set_of_files : served_set {};

TEST_F(set_of_files, lists_what_is_of_a_known_format_and_says_what_is_left_out) {
  write("conf/app.toml", "port = 80\n");
  write("conf/units/shop.service", std::string(unit_text));
  write("conf/k8s/shop.yaml", std::string(manifest_text));
  write("conf/notes.txt", "no configuration");
  write("conf/.env", "A=1\n");
  write("conf/prod.env", "A=1\n");
  write("conf/secrets.yaml", "a: 1\n");
  write("conf/.git/config", "[core]\n");
  write("conf/line\nbreak.toml", "x = 1\n");
  write("conf/caf\xE9.toml", "x = 1\n");
  write("conf/vendor/x.toml", "a = 1\n");
  write("conf/large.json", "[" + std::string(9u << 20, ' ') + "]");
  ASSERT_EQ(::mkfifo((root / "conf/pipe.toml").c_str(), 0600), 0);
  fs::create_directory(root / "conf/folder.toml");
  const auto from = serve("path = \"conf\"\nexclude = [\"vendor/\"]\nwatch = false\n");
  EXPECT_THAT(listed(*from), ElementsAre("config://conf/file", "config://conf/file/app.toml", "config://conf/file/k8s",
                                         "config://conf/file/k8s/shop.yaml", "config://conf/file/prod.env",
                                         "config://conf/file/units", "config://conf/file/units/shop.service"));
  EXPECT_THAT(
      left_out(*from),
      UnorderedElementsAre(Pair("notes.txt", HasSubstr("no known format")), Pair(".env", HasSubstr("begins with a dot")),
                           Pair(".git", HasSubstr("begins with a dot")), Pair("line\nbreak.toml", HasSubstr("unprintable")),
                           Pair("caf\xE9.toml", HasSubstr("not UTF-8")), Pair("secrets.yaml", HasSubstr("credentials")),
                           Pair("vendor", "it matches exclude"), Pair("large.json", HasSubstr("larger than 8 MiB")),
                           Pair("pipe.toml", HasSubstr("neither a file nor a folder"))));
  // What is left out cannot be read either, and nothing waits.
  for (const auto* name : {"notes.txt", ".env", ".git/config", "secrets.yaml", "vendor/x.toml", "pipe.toml"}) {
    EXPECT_EQ(error_at(*from, std::string("config://conf/file/") + name), errc::resource_not_found) << name;
  }
  EXPECT_EQ(error_at(*from, "config://conf/file/large.json"), errc::response_too_large);
}

TEST_F(set_of_files, serves_what_is_named_and_what_is_allowed) {
  write("conf/.env", "A=1\n");
  write("conf/secrets.yaml", "a: 1\n");
  write("conf/haproxy", "[x]\na = 1\n");
  write("conf/deep/app.toml", "a = 1\n");
  auto from = serve(
      "paths = [\"conf\", \"conf/.env\", \"conf/haproxy\"]\nallow = [\"secrets.yaml\"]\nname = \"all\"\n"
      "formats = { haproxy = \"ini\" }\nwatch = false\n");
  EXPECT_THAT(listed(*from),
              ElementsAre("config://all/file", "config://all/file/.env", "config://all/file/deep",
                          "config://all/file/deep/app.toml", "config://all/file/haproxy", "config://all/file/secrets.yaml"));
  EXPECT_EQ(text_at(*from, "config://all/file/haproxy?format=json"), R"({"x":{"a":"1"}})");
  from = serve("path = \"conf\"\nhidden = true\ninclude = [\"deep/\", \".env\"]\nwatch = false\n");
  EXPECT_THAT(listed(*from), ElementsAre("config://conf/file", "config://conf/file/.env", "config://conf/file/deep",
                                         "config://conf/file/deep/app.toml"));
  // Where nothing is masked, names of credentials count for environments, too.
  from = serve("path = \"conf\"\nhidden = true\nredact = false\nwatch = false\n");
  EXPECT_THAT(left_out(*from), IsSupersetOf({Pair(std::string(".env"), HasSubstr("credentials"))}));
}

TEST_F(set_of_files, gives_files_as_they_are_and_what_they_say) {
  write("conf/shop.service", std::string(unit_text));
  write("conf/shop.yaml", std::string(manifest_text));
  write("conf/app.properties", "# x\nserver.port = 80\n");
  settle("conf/app.properties");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/shop.service"), unit_text);
  EXPECT_EQ(json_at(*from, "config://conf/file/shop.service?format=json"), json(R"({
    "Unit":{"Description":"Frontend of the shop","After":["network-online.target","postgresql.service"]},
    "Service":{"Environment":"MODE=production","ExecStart":"/usr/bin/shop --port 8080  --workers 4","Restart":"on-failure"},
    "Install":{"WantedBy":"multi-user.target"}})"))
      << text_at(*from, "config://conf/file/shop.service?format=json");
  EXPECT_EQ(json_at(*from, "config://conf/file/shop.service?key=Unit.After.1"),
            json(R"({"key":"Unit.After.1","value":"postgresql.service","file":"shop.service","line":5})"));
  EXPECT_EQ(json_at(*from, "config://conf/file/shop.yaml?key=0.spec.template.spec.containers.0.image"),
            json(R"({"key":"0.spec.template.spec.containers.0.image","value":"registry.example/shop:1.4.2",
                     "file":"shop.yaml","line":13})"));
  EXPECT_EQ(json_at(*from, "config://conf/file/shop.yaml?key=1.spec.ports[0].targetPort"),
            json(R"({"key":"1.spec.ports.0.targetPort","value":8080,"file":"shop.yaml","line":24})"));
  EXPECT_EQ(json_at(*from, "config://conf/file/shop.yaml?key=0.metadata.labels%5B%22app.kubernetes.io%2Fname%22%5D"),
            json(R"({"key":"0.metadata.labels[\"app.kubernetes.io/name\"]","value":"shop","file":"shop.yaml","line":6})"));
  EXPECT_EQ(json_at(*from, "config://conf/file/app.properties?key=server.port"),
            json(R"({"key":"[\"server.port\"]","value":"80","file":"app.properties","line":2})"));
  const auto got = read(*from, "config://conf/file/shop.yaml");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->contents.front().mime_type, "application/yaml");
  EXPECT_EQ(got->contents.front().name, "shop.yaml");
}

TEST_F(set_of_files, says_that_there_are_no_layers) {
  write("conf/c.toml", "x = 1\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  for (const auto* uri :
       {"config://conf/merged", "config://conf/layers/x", "config://conf/diff/a..b", "config://conf/diff/a"}) {
    const auto got = read(*from, uri);
    ASSERT_FALSE(got) << uri;
    EXPECT_EQ(got.error().public_text,
              "The set has no layers, so there are no merged, layers and diff resources. Read config://conf/file, or add a "
              "[[source.layer]] table to the configuration.");
  }
}

TEST_F(set_of_files, reads_environment_files_in_the_chosen_dialect) {
  write("conf/.env", "A=a#b\n");
  const std::string common = "path = \"conf\"\nhidden = true\nwatch = false\n";
  EXPECT_EQ(text_at(*serve(common), "config://conf/file/.env?format=json"), R"({"A":"a"})");
  EXPECT_EQ(text_at(*serve(common + "dialect = \"dotenv\"\n"), "config://conf/file/.env?format=json"), R"({"A":"a"})");
  EXPECT_EQ(text_at(*serve(common + "dialect = \"compose\"\n"), "config://conf/file/.env?format=json"), R"({"A":"a#b"})");
  EXPECT_EQ(text_at(*serve(common + "formats = { \".env\" = \"compose-env\" }\n"), "config://conf/file/.env?format=json"),
            R"({"A":"a#b"})");
}

TEST_F(set_of_files, masks_all_values_of_a_broken_git_configuration) {
  write("conf/broken.gitconfig", "[a] password = x]\n[b \"c\"]\n\tkey = ok\n\tbad ; z\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  const auto text = text_at(*from, "config://conf/file/broken.gitconfig");
  EXPECT_EQ(text.find("x]"), std::string::npos) << text;
  EXPECT_EQ(text.find("ok"), std::string::npos) << text;
  EXPECT_NE(text.find("[b \"c\"]"), std::string::npos) << text;
}

TEST_F(set_of_files, answers_what_is_no_resource_with_what_there_is) {
  write("conf/a b.toml", "x = 1\n");
  write("conf/sub/c.toml", "x = 1\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/a%20b.toml"), "x = 1\n");
  for (const auto* uri :
       {"config://conf/file/sub%2Fc.toml", "config://conf/file/none.toml", "config://conf/file/../../x",
        "config://conf/file//c.toml", "config://conf/file/sub//c.toml", "config://conf/merged", "config://conf/layers/x",
        "config://conf/diff/a..b", "config://conf/x", "config://conf2/file/a%20b.toml",
        "config://conf/file/sub/%2e%2e/%2e%2e/hondana.toml", "config://conf/file/a%00b.toml"}) {
    EXPECT_FALSE(read(*from, uri)) << uri;
  }
  EXPECT_EQ(error_at(*from, "config://conf/file/a%20b.toml?format=yaml"), errc::invalid_argument);
  EXPECT_EQ(error_at(*from, "config://conf/file/a%20b.toml?keys=x"), errc::invalid_argument);
  EXPECT_EQ(error_at(*from, "config://conf/file/a%20b.toml?key=x&key=y"), errc::invalid_argument);
  EXPECT_EQ(text_at(*from, "config://conf/file/a%20b.toml?key=&format="), "x = 1\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/sub?key="), "config://conf/file/sub/c.toml\n");
  EXPECT_EQ(text_at(*from, "config://conf/file"), "config://conf/file/a%20b.toml\nconfig://conf/file/sub\n");
  EXPECT_EQ(text_at(*from, "config://conf/file/sub"), "config://conf/file/sub/c.toml\n");
  EXPECT_EQ(text_at(*from, "config://conf"), "config://conf/file\n");
  for (const auto* uri : {"config://conf", "config://conf/file", "config://conf/file/sub"}) {
    describe_request request;
    request.uri = uri;
    const auto entry = from->describe(request);
    ASSERT_TRUE(entry) << uri << entry.error().public_text;
    EXPECT_EQ(entry->kind, "folder");
    EXPECT_EQ(entry->mime_type, "inode/directory");
    EXPECT_EQ(entry->version, read(*from, uri)->version);
  }
  children_request below;
  below.uri = "config://conf/file/a%20b.toml";
  EXPECT_EQ(from->children(below).error().code, errc::invalid_argument);
  below.uri = "config://conf/file/none";
  EXPECT_EQ(from->children(below).error().code, errc::resource_not_found);
}

TEST_F(set_of_files, calls_files_of_one_name_by_their_folders) {
  write("a/app.toml", "x = 1\n");
  write("b/app.toml", "x = 2\n");
  write("c/app.toml", "x = 3\n");
  auto from = serve("paths = [\"a/app.toml\", \"b/app.toml\"]\nname = \"two\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://two/file/app.toml"), "x = 1\n");
  EXPECT_EQ(text_at(*from, "config://two/file/b/app.toml"), "x = 2\n");
  // Of two folders the first has what both have.
  from = serve("paths = [\"a\", \"c\"]\nname = \"two\"\nwatch = false\n");
  EXPECT_EQ(text_at(*from, "config://two/file/app.toml"), "x = 1\n");
  EXPECT_THAT(left_out(*from), ElementsAre(Pair("app.toml", HasSubstr("takes precedence"))));
}

TEST_F(set_of_files, has_versions_that_change_with_files) {
  write("conf/app.toml", "x = 1\n");
  settle("conf/app.toml");
  const auto from = serve(
      "path = \"conf\"\nwatch = false\n"
      "[[layer]]\nname = \"site\"\nfile = \"conf/app.toml\"\n");
  const std::vector<std::string> uris{"config://conf/file/app.toml",       "config://conf/file/app.toml?format=json",
                                      "config://conf/file/app.toml?key=x", "config://conf/merged",
                                      "config://conf/layers/site",         "config://conf/diff/site..merged",
                                      "config://conf/merged?key=x"};
  std::map<std::string, std::string> before;
  for (const auto& uri : uris) {
    const auto got = read(*from, uri);
    ASSERT_TRUE(got) << uri << got.error().public_text;
    EXPECT_FALSE(got->version.empty()) << uri;
    EXPECT_FALSE(got->is_racy) << uri;
    const auto again = read(*from, uri, got->version);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->contents.empty()) << uri;
    describe_request request;
    request.uri = uri;
    const auto entry = from->describe(request);
    ASSERT_TRUE(entry) << uri << entry.error().public_text;
    EXPECT_EQ(entry->version, got->version) << uri;
    EXPECT_EQ(entry->uri, uri);
    EXPECT_FALSE(entry->mime_type.empty());
    before[uri] = got->version;
  }
  replace("conf/app.toml", "x = 2\n");
  for (const auto& uri : uris) {
    const auto got = read(*from, uri, before[uri]);
    ASSERT_TRUE(got) << uri;
    // The difference of a layer and all there is stays none.
    EXPECT_EQ(got->contents.empty(), uri == "config://conf/diff/site..merged") << uri;
  }
}

TEST_F(set_of_files, of_a_thousand_is_listed_and_read) {
  for (int i = 0; i < 1000; ++i) {
    write("conf/d" + std::to_string(i % 10) + "/f" + std::to_string(i) + ".ini", "[s]\nk = " + std::to_string(i) + "\n");
  }
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_EQ(listed(*from).size(), 1000u + 10 + 1);
  for (int i = 0; i < 1000; i += 37) {
    EXPECT_EQ(*json_at(*from, "config://conf/file/d" + std::to_string(i % 10) + "/f" + std::to_string(i) + ".ini?key=s.k")
                   .find("value"),
              value(std::to_string(i)));
  }
  EXPECT_EQ(completed(*from, "config://conf/file/{+path}{?key,format}", "path", "d3/f99").front(), "d3/f993.ini");
}

}  // namespace
}  // namespace hondana::config_files
