/// Secrets, hostile texts, and what a caller may not see.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/git/text_escaping.hpp"
#include "unit/server/gate/ruled_view.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view token = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";

TEST(git_concealed, secrets_are_masked_in_blobs_patches_blame_and_messages) {
  made_repository made;
  made.write("config.ini", "user = ada\ntoken = " + std::string(token) + "\nend = 1\n");
  const auto id = made.commit("uses " + std::string(token) + "\n\nand " + std::string(token));
  made.git({"tag", "-a", "-m", "tagged with " + std::string(token), "v1"});
  made.write("config.ini", "user = ada\ntoken = " + std::string(token) + "\nend = 2\n");
  const served_repository shelf(made);
  for (const auto* uri :
       {"git://shelf/blob/HEAD/config.ini", "git://shelf/blob/HEAD/config.ini?lines=2", "git://shelf/commit/HEAD",
        "git://shelf/commit/HEAD?format=json", "git://shelf/blame/HEAD/config.ini",
        "git://shelf/blame/HEAD/config.ini?lines=2&format=json", "git://shelf/log", "git://shelf/log?format=json",
        "git://shelf/history/HEAD/config.ini", "git://shelf/overview", "git://shelf/branches", "git://shelf/tags",
        "git://shelf/tags?format=json", "git://shelf/changes", "git://shelf/changes?format=json"}) {
    auto text = shelf.text(uri);
    std::erase(text, '\\');
    EXPECT_THAT(text, Not(HasSubstr(token.substr(8)))) << uri;
    EXPECT_THAT(text, HasSubstr("****")) << uri;
  }
  EXPECT_EQ(shelf.text("git://shelf/blob/HEAD/config.ini").size(), made.git({"cat-file", "blob", "HEAD:config.ini"}).size());
  const served_repository open(made, false);
  EXPECT_EQ(open.text("git://shelf/blob/HEAD/config.ini"), made.git({"cat-file", "blob", "HEAD:config.ini"}));
  EXPECT_THAT(open.text("git://shelf/commit/" + id), HasSubstr(token));
}

// attacks: secrets (the target of a link in a patch)
TEST(git_concealed, targets_of_links_are_masked_in_patches_too) {
  made_repository made;
  std::filesystem::create_symlink(std::string(token), made.path() + "/link");
  made.commit("adds a link");
  std::filesystem::remove(made.path() + "/link");
  std::filesystem::create_symlink("elsewhere/" + std::string(token), made.path() + "/link");
  const served_repository shelf(made);
  for (const auto* uri : {"git://shelf/blob/HEAD/link", "git://shelf/commit/HEAD", "git://shelf/commit/HEAD?format=json",
                          "git://shelf/changes", "git://shelf/blame/HEAD/link"}) {
    const auto text = shelf.text(uri);
    EXPECT_THAT(text, Not(HasSubstr(token.substr(8)))) << uri;
    EXPECT_THAT(text, HasSubstr("****")) << uri;
  }
}

TEST(git_concealed, files_of_credentials_are_served_at_no_revision) {
  made_repository made;
  made.write(".env", "A=1\n");
  made.write(".ssh/known", "k\n");
  made.write("keys/id_rsa", "b\n");
  made.write("plain", "c\n");
  made.commit("first");
  made.write(".env", "A=2\n");
  made.commit("second");
  made.write("id_rsa", "untracked");
  for (const bool redacts : {true, false}) {
    const served_repository shelf(made, redacts);
    EXPECT_THAT(shelf.text("git://shelf/tree/HEAD"), HasSubstr(" more left out: files with names"));
    EXPECT_THAT(shelf.text("git://shelf/tree/HEAD"), Not(HasSubstr(".env")));
    for (const auto* uri : {"git://shelf/blob/HEAD/.env", "git://shelf/blob/HEAD~1/.env", "git://shelf/blame/HEAD/.env",
                            "git://shelf/history/HEAD/.env", "git://shelf/blob/HEAD/keys/id_rsa"}) {
      const auto why = shelf.error(uri);
      EXPECT_EQ(why.code, errc::resource_not_found) << uri;
      EXPECT_THAT(why.public_text, HasSubstr("its name suggests that it contains")) << uri;
    }
    for (const auto* uri : {"git://shelf/commit/HEAD", "git://shelf/diff/HEAD~1..HEAD"}) {
      const auto text = shelf.text(uri);
      EXPECT_THAT(text, HasSubstr("\n- 1 left out: files with names of credential files")) << uri;
      EXPECT_THAT(text, Not(HasSubstr(".env"))) << uri;
      EXPECT_THAT(text, Not(HasSubstr("A=2"))) << uri;
    }
    for (const auto* uri : {"git://shelf/commit/HEAD?format=json", "git://shelf/diff/HEAD~1..HEAD?format=json"}) {
      const auto told = shelf.json(uri);
      EXPECT_EQ(told.at("/changesLeftOut"), value(1)) << uri;
      EXPECT_EQ(told.at("/changes"), value(value::array{})) << uri;
    }
    EXPECT_EQ(shelf.children("git://shelf/tree/HEAD/keys"), std::vector<std::string>());
    EXPECT_THAT(shelf.text("git://shelf/changes"), HasSubstr("- 1 left out: "));
    EXPECT_EQ(shelf.complete("git://{repo}/blob/{rev}/{+path}{?lines}", "path", "keys/id").values, std::vector<std::string>());
  }
}

TEST(git_concealed, nothing_in_a_repository_passes_for_what_we_say) {
  made_repository made;
  made.write("`x` [a](b)\n# h", "```\n# not ours\n````\n");
  made.commit("[link](git://shelf/commit/x) `code` <b>\n\n```\n# not ours\n");
  made.git({"checkout", "-q", "-b", "x`y"});
  const served_repository shelf(made);
  const auto log = shelf.text("git://shelf/log");
  EXPECT_THAT(log, HasSubstr(": \\[link\\](git://shelf/commit/x) \\`code\\` \\<b\\>\n"));
  const auto commit = shelf.text("git://shelf/commit/HEAD");
  EXPECT_THAT(commit, HasSubstr("\n````text\n[link](git://shelf/commit/x) `code` <b>\n\n```\n# not ours\n````\n"));
  EXPECT_THAT(commit, HasSubstr("\n`````diff\n"));
  EXPECT_THAT(commit, HasSubstr("- `` `x` [a](b) # h ``: added"));
  EXPECT_THAT(shelf.text("git://shelf/branches"), HasSubstr("``x`y``"));
}

TEST(git_concealed, markdown_of_others_is_escaped_and_fenced) {
  EXPECT_EQ(escape_markdown("a*b_c`d[e]<f>\n# g|h~i&j\\k"), "a\\*b\\_c\\`d\\[e\\]\\<f\\> # g\\|h\\~i\\&j\\\\k");
  EXPECT_EQ(code_span("plain"), "`plain`");
  EXPECT_EQ(code_span("a``b"), "```a``b```");
  EXPECT_EQ(code_span("`"), "`` ` ``");
  EXPECT_EQ(code_span("a\nb"), "`a b`");
  EXPECT_EQ(code_block("a"), "```\na\n```\n");
  EXPECT_EQ(code_block("````\n", "diff"), "`````diff\n````\n`````\n");
  EXPECT_EQ(code_block(std::string_view("a\0b\xff\n", 5)),
            "```\na\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\n```\n");
}

TEST(git_concealed, what_a_view_hides_is_in_no_tree_patch_or_list) {
  made_repository made;
  made.write("secret/plan", "hidden words\n");
  made.write("a+b/plan", "hidden words\n");
  made.write("open", "seen\n");
  made.commit("first");
  const served_repository shelf(made);
  const auto through = std::make_shared<const test_view>([](std::string_view uri) {
    return uri.find("/secret") == std::string_view::npos && uri.find("/a+b") == std::string_view::npos &&
           uri.find("/stashes") == std::string_view::npos;
  });
  for (const auto* uri : {"git://shelf/tree/HEAD", "git://shelf/tree/HEAD?format=json", "git://shelf/commit/HEAD",
                          "git://shelf/commit/HEAD?format=json"}) {
    const auto text = shelf.text(uri, through);
    EXPECT_THAT(text, HasSubstr("open")) << uri;
    EXPECT_THAT(text, Not(HasSubstr("secret"))) << uri;
    EXPECT_THAT(text, Not(HasSubstr("hidden"))) << uri;
  }
  for (const auto* uri : {"git://shelf/tree/HEAD", "git://shelf/commit/HEAD", "git://shelf/log",
                          "git://shelf/history/HEAD/open", "git://shelf/blame/HEAD/open"}) {
    EXPECT_NE(shelf.try_read(uri, through)->version, shelf.read(uri).version)
        << uri << ": whoever may see more later must not be told that nothing has changed";
  }
  const auto by_id = "git://shelf/commit/" + made.git({"rev-parse", "HEAD"}).substr(0, 40);
  EXPECT_EQ(shelf.read(by_id).ttl, std::chrono::hours(24));
  EXPECT_EQ(shelf.try_read(by_id, through)->ttl, std::chrono::seconds(2)) << "other rules may show more";
  // Another spelling of a path is no way round a rule.
  EXPECT_FALSE(shelf.try_read("git://shelf/blob/HEAD/a%2Bb/plan", through));
  EXPECT_TRUE(shelf.try_read("git://shelf/blob/HEAD/a%2Bb/plan"));
  children_request request;
  request.uri = "git://shelf/tree/HEAD";
  request.caller.access_filter = through;
  const auto page = shelf.provider().children(request).value();
  ASSERT_EQ(page.entries.size(), 1U);
  EXPECT_EQ(page.entries[0].uri, "git://shelf/blob/HEAD/open");
  list_request all;
  all.caller.access_filter = through;
  const auto listed = shelf.provider().list(all).value();
  for (const auto& one : listed.entries) EXPECT_EQ(one.uri.find("stashes"), std::string::npos);
}

// attacks: authorization (content that a rule guards, by whatever route)
TEST(git_concealed, what_rules_about_kinds_do_not_let_be_read_is_in_no_patch_and_blamed_on_nobody) {
  made_repository made;
  made.write("plan", "hidden words\n");
  std::filesystem::create_symlink("hidden-target", made.path() + "/link");
  made.commit("first");
  const served_repository shelf(made);
  const auto lists = [](const std::string& kind) {
    return test::view_by(
        {{.level = access_level::read}, {.uris = {"git://shelf/blob/"}, .kinds = {kind}, .level = access_level::list}});
  };
  for (const auto* uri : {"git://shelf/commit/HEAD", "git://shelf/commit/HEAD?format=json"}) {
    EXPECT_THAT(shelf.text(uri), AllOf(HasSubstr("hidden words"), HasSubstr("hidden-target"))) << uri;
    EXPECT_THAT(shelf.text(uri, lists("blob")), AllOf(Not(HasSubstr("hidden words")), HasSubstr("hidden-target"))) << uri;
    EXPECT_THAT(shelf.text(uri, lists("link")), AllOf(HasSubstr("hidden words"), Not(HasSubstr("hidden-target")))) << uri;
  }
  EXPECT_FALSE(shelf.try_read("git://shelf/blame/HEAD/plan", lists("blob")));
  EXPECT_TRUE(shelf.try_read("git://shelf/blame/HEAD/plan", lists("link")));
  const auto hides_links = test::view_by({{.level = access_level::read}, {.kinds = {"link"}, .level = access_level::none}});
  EXPECT_THAT(shelf.text("git://shelf/tree/HEAD", hides_links), AllOf(HasSubstr("plan"), Not(HasSubstr("link"))));
}

TEST(git_concealed, what_may_not_be_read_as_a_blob_is_blamed_on_nobody) {
  made_repository made;
  made.write("secret/plan", "hidden words\n");
  made.commit("first");
  const served_repository shelf(made);
  const auto through =
      std::make_shared<const test_view>([](std::string_view uri) { return uri.find("/blob/") == std::string_view::npos; });
  const auto* const blame = "git://shelf/blame/HEAD/secret/plan";
  const auto refused = shelf.try_read(blame, through);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::resource_not_found);
  EXPECT_THAT(refused.error().public_text, HasSubstr("path: \"secret/plan\" does not exist at that revision"));
  EXPECT_TRUE(shelf.try_read(blame));
  const auto hidden = shelf.try_read("git://shelf/history/HEAD/secret/plan", through);
  ASSERT_FALSE(hidden);
  EXPECT_EQ(hidden.error().code, errc::resource_not_found);
  EXPECT_THAT(shelf.text("git://shelf/history/HEAD/secret/plan"), HasSubstr("first"));
  EXPECT_THAT(shelf.text("git://shelf/diff/HEAD..HEAD?path=secret", through), Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace hondana::git
