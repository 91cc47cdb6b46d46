/// `hondana check`, `hondana schemes` and usage errors: what is printed where, and the exit codes.
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::departure;
using program_test::failed;
using program_test::folder;
using program_test::misused;
using program_test::output_to;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::well;
using program_test::within;

TEST(program_check, prints_what_is_served_and_what_is_not) {
  const folder what;
  what.put("a.txt", "hello");
  what.put(".env", "KEY=1");
  const auto got = run({"check", what.path()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("  + a.txt\n"), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("  - .env  ("), std::string::npos) << got.output;
  EXPECT_TRUE(got.output.ends_with("2 served, 1 left out\n")) << got.output;
}

TEST(program_check, shows_skills_that_are_left_out_and_why) {
  const folder what;
  what.put("shelf.toml", "[[source]]\ntype = \"skills\"\npath = \"skills\"\n");
  what.put("skills/good/SKILL.md", "---\nname: good\ndescription: Good.\n---\n");
  what.put("skills/bad/SKILL.md", "---\ndescription: Bad.\n---\n");
  const auto got = run({"check", "--config", what.path() + "/shelf.toml"});
  EXPECT_EQ(got.how, well) << got.errors;
  const auto behind_sandbox = got.output.find('\n') + 1;
  EXPECT_TRUE(got.output.starts_with("sandbox  ")) << got.output;
  EXPECT_EQ(
      got.output.substr(behind_sandbox),
      "skills  skill://\n"
      "  needs  to read " +
          what.path("skills") +
          "\n  + good/SKILL.md\n  - bad  (SKILL.md: the front matter has no \"name\" that is text)\n1 served, 1 left out\n");
  EXPECT_NE(got.errors.find("the skill bad is left out: SKILL.md: "), std::string::npos) << got.errors;
}

TEST(program_check, explains_rule_by_rule_what_a_caller_may_do) {
  const folder what;
  what.put("a.txt", "hello");
  const auto keys = what.uri("keys");
  what.put("shelf.toml", R"([[access.rule]]
allow = ["list", "read"]

[[access.rule]]
uris = [")" + keys + R"("]
deny = true

[[access.rule]]
groups = ["admins"]
uris = [")" + keys + R"("]
allow = ["list"]

[[source]]
type = "files"
path = "."
)");
  const auto config = what.path() + "/shelf.toml";
  const auto bob = run({"check", "--config", config, "--as", "bob", keys + "/a"});
  EXPECT_EQ(bob.how, well) << bob.errors;
  EXPECT_EQ(bob.output, keys +
                            "/a\n  rule 1 (allow list, read)  a later rule decides\n  rule 2 (deny)  decides\n  rule 3 (allow "
                            "list)  does not match this caller\n  bob may not list it and may not read it\n");
  EXPECT_NE(bob.errors.find("--as: no caller is ever named \"bob\"; callers are "), std::string::npos) << bob.errors;
  EXPECT_NE(bob.errors.find("The token bob is token:bob"), std::string::npos) << bob.errors;
  EXPECT_EQ(run({"check", "--config", config, "--as", "token:bob", keys + "/a"}).errors.find("is ever named"),
            std::string::npos);
  const auto admin = run({"check", "--json", "--config", config, "--as", "bob", "--group", "admins", keys + "/a"});
  EXPECT_EQ(admin.how, well) << admin.errors;
  EXPECT_TRUE(
      admin.output.starts_with(R"({"uri":")" + keys + R"(/a","identity":"bob","list":true,"read":false,"rules":[{"rule":1,)"))
      << admin.output;
  EXPECT_EQ(run({"check", "--config", config, "--as", "bob"}).how, misused);
  EXPECT_EQ(run({"check", "--config", config, "--group", "admins"}).how, misused);
  EXPECT_EQ(run({"check", "--config", config, "--as", "bob", "no uri"}).how, misused);
}

TEST(program_check, of_a_caller_explains_templates_tools_and_prompts) {
  const folder what;
  what.put("a.txt", "hello");
  const auto keys = what.uri("keys");
  what.put("shelf.toml", "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nuris = [\"" + keys +
                             "/\"]\ndeny = true\n[[access.rule]]\nidentities = [\"local\"]\ntools = [\"read_*\"]\n"
                             "allow = [\"list\"]\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto config = what.path("shelf.toml");
  const auto text = run({"check", "--config", config, "--as", "bob", what.uri("") + "{+path}", keys + "/{+path}", "--tool",
                         "read_resource", "--prompt", "greet"});
  EXPECT_EQ(text.how, well) << text.errors;
  EXPECT_EQ(text.output,
            "template " + what.uri("") + "{+path}\n" +
                "  rule 1 (allow list, read)  decides\n  rule 2 (deny)  matches only some of it\n  rule 3 (allow list)  does "
                "not match this caller\n  bob may list it; each expanded URI is decided separately\ntemplate " +
                keys + "/{+path}\n" +
                "  rule 1 (allow list, read)  a later rule decides\n  rule 2 (deny)  decides\n  rule 3 (allow list)  does not "
                "match this caller\n  bob may not list it; each expanded URI is decided separately\ntool read_resource\n  rule "
                "1 (allow list, read)  decides\n  rule 2 (deny)  is not about this tool\n  rule 3 (allow list)  does not match "
                "this caller\n  bob may list it and may call it\nprompt greet\n  rule 1 (allow list, read)  decides\n  rule 2 "
                "(deny)  is not about this prompt\n  rule 3 (allow list)  does not match this caller\n  unknown prompt here\n  "
                "bob may not list it and may not get it\n");
  const auto json = run({"check", "--json", "--config", config, "--as", "local", "--tool", "read_resource"});
  EXPECT_EQ(json.how, well) << json.errors;
  EXPECT_TRUE(json.output.starts_with(R"({"tool":"read_resource","identity":"local","list":true,"call":false,"rules":[)"))
      << json.output;
  EXPECT_TRUE(json.output.ends_with(R"({"rule":3,"gives":"allow list","caller":true,"about":"all","decides":true}]})"
                                    "\n"))
      << json.output;
  EXPECT_EQ(run({"check", "--config", config, "--tool", "read_resource"}).how, misused);
  EXPECT_EQ(run({"check", "--config", config, "--as", "bob", what.uri("") + "{"}).how, misused);
}

TEST(program_check, of_a_caller_knows_what_links_and_parts_come_to) {
  const folder what;
  what.put("pub/a.txt", "hello");
  what.put("secret/s.txt", "a secret");
  std::filesystem::create_symlink("../secret/s.txt", what.path() + "/pub/link.txt");
  what.put("shelf.toml", "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nuris = [\"" + what.uri("secret") +
                             "\"]\ndeny = true\n[[access.rule]]\npatterns = [\"**?lines=1\"]\nallow = [\"list\", \"read\"]\n"
                             "[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto config = what.path() + "/shelf.toml";
  const auto link = run({"check", "--config", config, "--as", "bob", what.uri("pub/link.txt")});
  EXPECT_EQ(link.how, well) << link.errors;
  EXPECT_TRUE(link.output.ends_with("  hidden, because its target is hidden\n  bob may not list it and may not read it\n"))
      << link.output;
  const auto as_json = run({"check", "--json", "--config", config, "--as", "bob", what.uri("pub/link.txt")});
  EXPECT_NE(as_json.output.find(R"("list":false,"read":false,"hiddenByTarget":true,)"), std::string::npos) << as_json.output;
  const auto open = run({"check", "--config", config, "--as", "bob", what.uri("pub/a.txt")});
  EXPECT_TRUE(open.output.ends_with("bob may list it and may read it\n")) << open.output;
  const auto part = run({"check", "--config", config, "--as", "bob", what.uri("secret/s.txt") + "?lines=1"});
  EXPECT_NE(part.output.find("the whole, " + what.uri("secret/s.txt") + '\n'), std::string::npos) << part.output;
  EXPECT_NE(part.output.find("  rule 2 (deny)  decides\n", part.output.find("the whole")), std::string::npos) << part.output;
  EXPECT_TRUE(part.output.ends_with("bob may not list it and may not read it\n")) << part.output;
}

TEST(program_check, of_a_caller_counts_the_scopes_of_a_links_target) {
  const folder what;
  what.put("pub/a.txt", "hello");
  what.put("secret/s.txt", "a secret");
  std::filesystem::create_symlink("../secret/s.txt", what.path() + "/pub/link.txt");
  what.put("shelf.toml", "[auth]\n[[auth.rule]]\nmethods = [\"resources/read\"]\nuris = [\"" + what.uri("secret/") +
                             "\"]\nscopes = [\"private\"]\n[[auth.rule]]\nmethods = [\"resources/read\"]\nuris = [\"" +
                             what.uri("pub/") +
                             "\"]\nscopes = [\"public\"]\n[[auth.rule]]\nmethods = [\"tools/call\"]\nscopes = "
                             "[\"tools\"]\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto ask = [&what](const std::vector<std::string>& options, const std::string& path) {
    std::vector<std::string> words{"check", "--config", what.path("shelf.toml"), "--as", "token:bob"};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(what.uri(path));
    return run(words).output;
  };
  const auto lacking = ask({"--scope", "public"}, "pub/link.txt");
  EXPECT_TRUE(
      lacking.ends_with("  not readable, because its target is not readable\n"
                        "  no access rules: every caller may list and read everything\n"
                        "  token:bob may list it and may not read it\n"))
      << lacking;
  const auto as_json = ask({"--json", "--scope", "public"}, "pub/link.txt");
  EXPECT_NE(as_json.find(R"("list":true,"read":false,"unreadableByTarget":true,)"), std::string::npos) << as_json;
  const auto granted = ask({"--scope", "public", "--scope", "private"}, "pub/link.txt");
  EXPECT_TRUE(granted.ends_with("  token:bob may list it and may read it\n")) << granted;
  const auto plain = ask({"--scope", "public"}, "pub/a.txt");
  EXPECT_TRUE(plain.ends_with("  token:bob may list it and may read it\n")) << plain;
  const auto open = ask({}, "pub/link.txt");
  EXPECT_TRUE(open.ends_with("  token:bob may list it; reading needs the scopes private public, which --scope gives here\n"))
      << open;
}

TEST(program_check, of_a_caller_knows_a_link_whose_target_may_only_be_listed) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("listed/s.txt", "hello");
  std::filesystem::create_symlink("listed/s.txt", what.path("link.txt"));
  what.put("shelf.toml", "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nuris = [\"" + what.uri("listed/") +
                             "\"]\nallow = [\"list\"]\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto link = run({"check", "--config", what.path("shelf.toml"), "--as", "local", what.uri("link.txt")});
  EXPECT_EQ(link.how, well) << link.errors;
  EXPECT_TRUE(
      link.output.ends_with("  not readable, because its target is not readable\n"
                            "  local may list it and may not read it\n"))
      << link.output;
}

TEST(program_check, of_a_caller_tells_what_other_spellings_come_to) {
  const folder what;
  const auto web = what.uri("http://h");
  what.put("shelf.toml", "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nuris = [\"" + web +
                             "/keys\"]\ndeny = true\n[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto config = what.path() + "/shelf.toml";
  const auto odd = what.uri("HTTP://h/keys");
  const auto denied = run({"check", "--config", config, "--as", "bob", odd});
  EXPECT_EQ(denied.how, well) << denied.errors;
  EXPECT_EQ(denied.output, odd +
                               "\n  rule 1 (allow list, read)  would decide, except for other spellings\n  rule 2 (deny)  is "
                               "not about this URI\n  also written as " +
                               web +
                               "/keys:\n"
                               "  rule 1 (allow list, read)  a later rule decides\n"
                               "  rule 2 (deny)  decides\n"
                               "  bob may not list it and may not read it\n");
  const auto as_json = run({"check", "--json", "--config", config, "--as", "bob", odd});
  EXPECT_NE(as_json.output.find(R"("read":false,"rules":[{"rule":1,"gives":"allow list, read","caller":true,"uri":true,)"
                                R"("entry":true,"decides":false})"),
            std::string::npos)
      << as_json.output;
  EXPECT_NE(as_json.output.find(R"("spellings":[{"uri":")" + web + R"(/keys","rules":[{"rule":1,)"), std::string::npos)
      << as_json.output;
  const auto open = run({"check", "--config", config, "--as", "bob", what.uri("HTTP://h/open")});
  EXPECT_EQ(open.output.find("written"), std::string::npos) << open.output;
  EXPECT_TRUE(open.output.ends_with("  bob may list it and may read it\n")) << open.output;
  const auto deep = run({"check", "--config", config, "--as", "bob", what.uri("a:/a:/a:/a:/a:/a")});
  EXPECT_TRUE(
      deep.output.ends_with("  it has too many other spellings to compare, so it does not exist for this caller\n"
                            "  bob may not list it and may not read it\n"))
      << deep.output;
  const auto deep_json = run({"check", "--json", "--config", config, "--as", "bob", what.uri("a:/a:/a:/a:/a:/a")});
  EXPECT_NE(deep_json.output.find(R"("tooManySpellings":true)"), std::string::npos) << deep_json.output;
  EXPECT_EQ(deep_json.output.find(R"("decides":true)"), std::string::npos) << deep_json.output;
}

TEST(program_check, of_a_caller_with_a_token_tells_the_scopes_that_reading_needs) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("shelf.toml",
           "[auth]\n[[auth.rule]]\nmethods = [\"resources/read\"]\nscopes = [\"private\"]\n[[source]]\ntype = \"files\"\npath "
           "= \".\"\n");
  const auto ask = [&what](const std::string& who) {
    return run({"check", "--config", what.path("shelf.toml"), "--as", who, what.uri("a.txt")}).output;
  };
  EXPECT_TRUE(ask("token:bob").ends_with("token:bob may list it; reading needs the scope private, which --scope gives here\n"))
      << ask("token:bob");
  EXPECT_TRUE(ask("local").ends_with("local may list it and may read it\n")) << ask("local");
}

TEST(program_check, warns_of_rules_about_nobody_and_no_kind_and_says_what_is_in_force) {
  const folder what;
  what.put("shelf/a.txt", "hello");
  run({"token", "new", "laptop", "--file", what.path("tokens")});
  what.put("shelf.toml",
           "[auth]\ntokens = \"tokens\"\n[audit]\npath = \"record/audit.jsonl\"\n[[access.rule]]\nidentities = [\"bob\"]\n"
           "kinds = [\"fiel\"]\ndeny = true\n[[source]]\ntype = \"files\"\npath = \"shelf\"\nredact = false\n");
  const auto got = run({"check", "--config", what.path("shelf.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:6: access.rule.identities: no caller is ever named \"bob\""), std::string::npos)
      << got.errors;
  EXPECT_NE(got.errors.find("shelf.toml:7: access.rule.kinds: no served resource has the kind \"fiel\""), std::string::npos)
      << got.errors;
  EXPECT_NE(got.output.find("access  1 rule; resources that no rule matches do not exist for callers\n"), std::string::npos)
      << got.output;
  EXPECT_NE(got.output.find("audit  " + what.path("record/audit.jsonl") + "\n"), std::string::npos) << got.output;
  EXPECT_NE(got.output.find("redact = false  secrets in contents of files are not masked\n"), std::string::npos) << got.output;
  EXPECT_FALSE(std::filesystem::exists(what.path("record")));
}

TEST(program_check, says_how_full_the_index_is) {
  const folder what;
  what.put("docs/a.md", "# Backup\n\nHow to restore a backup.\n");
  what.put("shelf.toml", "[search]\npath = \"kept/index.db\"\n[[source]]\ntype = \"docs\"\nname = \"d\"\npath = \"docs\"\n");
  const auto config = what.path("shelf.toml");
  const auto before = run({"check", "--config", config});
  EXPECT_EQ(before.how, well) << before.errors;
  EXPECT_NE(before.output.find("search  index " + what.path("kept/index.db") + "\n  does not exist yet: "), std::string::npos)
      << before.output;
  EXPECT_FALSE(std::filesystem::exists(what.path("kept")));
  const auto indexed = run({"read", "search:///?wait=complete", "--", HONDANA_PROGRAM, "stdio", "--config", config});
  ASSERT_EQ(indexed.how, well) << indexed.errors;
  const auto after = run({"check", "--config", config});
  EXPECT_EQ(after.how, well) << after.errors;
  EXPECT_NE(after.output.find("\n  has 2 resources, 2 passages, "), std::string::npos) << after.output;
  EXPECT_NE(after.output.find("; complete since 20"), std::string::npos) << after.output;
  EXPECT_NE(after.output.find("  needs  to write " + what.path("kept") + '\n'), std::string::npos) << after.output;
  const auto as_json = run({"check", "--json", "--config", config});
  EXPECT_NE(as_json.output.find("{\"index\":{\"exists\":true,\"resources\":2,\"passages\":2,"), std::string::npos)
      << as_json.output;
  what.put("kept/index.db", "something of somebody else's");
  const auto other = run({"check", "--config", config});
  EXPECT_EQ(other.how, failed) << other.output;
}

TEST(program_check, takes_the_tokens_that_serve_would_and_knows_that_they_may_come) {
  const folder what;
  what.put("shown/a.txt", "hello");
  run({"token", "new", "bob", "--file", what.path("shown/me")});
  what.put("shelf.toml",
           "[[access.rule]]\nidentities = [\"token:bob\"]\nallow = [\"list\", \"read\"]\n[[source]]\ntype = \"files\"\npath = "
           "\"shown\"\n");
  const auto config = what.path("shelf.toml");
  const auto without = run({"check", "--config", config});
  EXPECT_EQ(without.how, well) << without.errors;
  EXPECT_EQ(without.errors.find("no caller is ever named"), std::string::npos) << without.errors;
  const auto with = run({"check", "--config", config, "--tokens", what.path("shown/me")});
  EXPECT_EQ(with.how, well) << with.errors;
  EXPECT_EQ(with.errors.find("no caller is ever named"), std::string::npos) << with.errors;
  EXPECT_NE(with.output.find("callers over HTTP  by tokens in " + what.path("shown/me") + '\n'), std::string::npos)
      << with.output;
  EXPECT_NE(with.output.find("  - me  (a file of the server itself, named in its configuration)\n"), std::string::npos)
      << with.output;
  EXPECT_EQ(run({"check", "--config", config, "--tokens", what.path("none")}).how, misused);
}

TEST(program_check, of_a_caller_says_so_where_there_are_no_rules) {
  const folder what;
  what.put("a.txt", "hello");
  what.put("shelf.toml", "[[source]]\ntype = \"files\"\npath = \".\"\n");
  const auto got = run({"check", "--config", what.path() + "/shelf.toml", "--as", "bob", what.uri("a.txt")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("no access rules: every caller"), std::string::npos) << got.output;
  EXPECT_TRUE(got.output.ends_with("bob may list it and may read it\n")) << got.output;
}

TEST(program_check, prints_json_lines) {
  const folder what;
  what.put("a.txt", "hello");
  const auto got = run({"check", "--json", what.path()});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.output.find("{\"name\":\"a.txt\",\"uri\":\"" + what.uri("a.txt") + "\",\"served\":true}\n"), std::string::npos)
      << got.output;
}

TEST(program_check, leaves_out_what_the_configuration_names_for_the_server) {
  const folder what;
  what.put(
      "shelf.toml",
      "[auth]\ntokens = \"me\"\n[audit]\npath = \"record\"\n[[source]]\ntype = \"files\"\npath = \".\"\nallow = [\"*\"]\n");
  for (const char* one : {"me.lock", "record.1", "open.md", "a.token"}) what.put(one, "x");
  run({"token", "new", "laptop", "--file", what.path("me")});
  const auto refused = run({"check", "--config", what.path("shelf.toml")});
  EXPECT_EQ(refused.how, misused);
  EXPECT_NE(refused.errors.find("shelf.toml:4: audit.path: its folder " + what.path() + " contains "), std::string::npos)
      << refused.errors;
  const auto got = run({"check", "--sandbox", "off", "--config", what.path("shelf.toml")});
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_NE(got.errors.find("Give the audit log a folder of its own outside of the served folders"), std::string::npos)
      << got.errors;
  for (const std::string one : {"me", "me.lock", "record.1", "shelf.toml"}) {
    EXPECT_NE(got.output.find("  - " + one + "  (a file of the server itself, named in its configuration)\n"),
              std::string::npos)
        << got.output;
  }
  EXPECT_NE(got.output.find("  + open.md\n"), std::string::npos) << got.output;
}

TEST(program_check, says_which_folder_is_missing) {
  const folder what;
  const auto got = run({"check", what.path("missing")});
  EXPECT_EQ(got.how, misused);
  EXPECT_EQ(got.output, "");
  EXPECT_NE(got.errors.find("\"" + what.path("missing") + "\": No such file or directory."), std::string::npos) << got.errors;
}

TEST(program_check, names_the_line_of_a_wrong_configuration) {
  const folder what;
  what.put("bad.toml", "\n\npage_size = \"many\"\n");
  const auto got = run({"check", "--config", what.path("bad.toml")});
  EXPECT_EQ(got.how, misused);
  EXPECT_NE(got.errors.find(what.path("bad.toml") + ":3: page_size"), std::string::npos) << got.errors;
  EXPECT_EQ(run({"check", "--config", what.path("none.toml")}).how, misused);
}

TEST(program_check, refuses_what_a_server_would_not_start_with) {
  const folder what;
  what.put("shown/a.txt", "hello");
  const auto config = what.path("t.toml");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"[http]\ntrusted_proxies = [\"*\"]\n", ":2: http.trusted_proxies: Cannot trust the proxy \"*\""},
      {"[http]\ntrusted_proxies = [\"10.0.0.0/40\"]\n", ":2: http.trusted_proxies: Cannot trust the proxy"},
      {"[http.tls]\ncertificate_file = \"none.pem\"\nkey_file = \"none.pem\"\n",
       ":2: http.tls.certificate_file: Cannot use the certificate"},
      {"[auth.oauth]\nissuer = \"http://login.example.com\"\nresource = \"https://b.example\"\n", ":2: auth.oauth.issuer: "}};
  for (const auto& [text, why] : wrong) {
    what.put("t.toml", text + "[[source]]\ntype = \"files\"\npath = \"shown\"\n");
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"check", "--config", config}, {"serve", "--port", "0", "--config", config}}) {
      const auto got = run(command);
      EXPECT_EQ(got.how, misused) << text << got.errors;
      EXPECT_NE(got.errors.find(config + why), std::string::npos) << got.errors;
    }
  }
}

TEST(program_check, refuses_two_sources_for_one_folder) {
  const folder what;
  const auto source = "[[source]]\ntype = \"files\"\npath = \"" + what.path() + "\"\n";
  what.put("twice.toml", source + source);
  const auto got = run({"check", "--config", what.path("twice.toml")});
  EXPECT_EQ(got.how, misused) << got.output;
  EXPECT_NE(got.errors.find("file://" + what.path()), std::string::npos) << got.errors;
}

TEST(program, says_when_its_output_cannot_be_written) {
  const folder what;
  what.put("a.txt", "hello");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"check", what.path()},
                                                                     {"check", "--json", what.path()},
                                                                     {"schemes"},
                                                                     {"schemes", "--json"},
                                                                     {"--help"},
                                                                     {"--version"}}) {
    const auto got = run(arguments, output_to::full_disk);
    EXPECT_EQ(got.how, failed) << arguments.front();
    EXPECT_NE(got.errors.find("No space left on device"), std::string::npos) << arguments.front() << ": " << got.errors;
  }
}

TEST(program_stdio, says_when_its_output_cannot_be_written) {
  const folder what;
  process program({"stdio", what.path()}, output_to::full_disk);
  ASSERT_TRUE(program.write("nonsense\n", within(patience)));
  EXPECT_EQ(program.leaves(within(patience)), failed);
  EXPECT_NE(program.errors().find("No space left on device"), std::string::npos) << program.errors();
}

TEST(program_schemes, prints_the_uris) {
  const auto plain = run({"schemes"});
  EXPECT_EQ(plain.how, well);
  EXPECT_NE(plain.output.find("file://"), std::string::npos);
  EXPECT_EQ(plain.errors, "");
  const auto json = run({"schemes", "--json"});
  EXPECT_EQ(json.how, well);
  EXPECT_TRUE(json.output.starts_with("[{\"scheme\":\"file\",")) << json.output.substr(0, 100);
  EXPECT_TRUE(run({"schemes", "--markdown"}).output.starts_with("# URI schemes\n"));
}

TEST(program, prints_help_and_version_to_standard_output) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"stdio", "--help"}, {"serve", "-h"}, {"--version"}}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.how, well) << arguments.front();
    EXPECT_NE(got.output.find("hondana"), std::string::npos) << got.output;
    EXPECT_EQ(got.errors, "") << arguments.front();
  }
}

TEST(program, refuses_what_it_does_not_know) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{{},
                                                                     {"frobnicate"},
                                                                     {""},
                                                                     {"--frobnicate"},
                                                                     {"check", "--frobnicate"},
                                                                     {"schemes", "extra"},
                                                                     {"stdio", "--config"}}) {
    const auto got = run(arguments);
    EXPECT_EQ(got.how, misused) << got.errors;
    EXPECT_EQ(got.output, "");
    EXPECT_TRUE(got.errors.starts_with("hondana: ")) << got.errors;
    EXPECT_NE(got.errors.find("\nTry 'hondana "), std::string::npos) << got.errors;
    EXPECT_TRUE(got.errors.ends_with("--help'.\n")) << got.errors;
  }
  EXPECT_NE(run({"frobnicate"}).errors.find("unknown command \"frobnicate\""), std::string::npos);
}

TEST(program_check, of_a_caller_looks_for_what_a_mounted_server_lists_in_another_spelling) {
  const folder what;
  what.put("shelf/a.txt", "hello");
  // Servers of this revision tell no entries but in their lists.
  const auto config = [&](const std::string& denied) {
    what.put("shelf.toml", "[[access.rule]]\nallow = [\"list\", \"read\"]\n[[access.rule]]\nkinds = [\"" + denied +
                               "\"]\ndeny = true\n[[source]]\ntype = \"mcp\"\nname = \"far\"\nrevision = \"2025-06-18\"\n" +
                               "command = [\"" + HONDANA_PROGRAM + "\", \"stdio\", \"" + what.path("shelf") + "\"]\n");
    return what.path("shelf.toml");
  };
  const auto odd = "mcp://far/FILE" + what.uri("shelf/a.txt").substr(4);
  const auto denied = run({"check", "--config", config("file"), "--as", "bob", odd});
  EXPECT_EQ(denied.how, well) << denied.errors;
  EXPECT_TRUE(denied.output.ends_with("  rule 2 (deny)  decides\n  bob may not list it and may not read it\n"))
      << denied.output;
  const auto allowed = run({"check", "--config", config("folder"), "--as", "bob", odd});
  EXPECT_TRUE(allowed.output.ends_with("this kind or audience\n  bob may list it and may read it\n")) << allowed.output;
}

}  // namespace
