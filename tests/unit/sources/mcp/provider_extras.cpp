/// Skills, folders and versions of a mounted server, and mounts that do not wait to be asked.
#include <stdlib.h>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <hondana/authorization.hpp>
#include <hondana/skill_provider.hpp>

#include "auth/credentials/credential_store.hpp"
#include "auth/credentials/stored_login.hpp"
#include "support/must.hpp"
#include "unit/sources/mcp/mounting.hpp"

namespace hondana::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct skill_server {
  skill_server() {
    const std::string text = "---\nname: pdf\ndescription: Fills forms\n---\nRead forms.md.\n";
    EXPECT_TRUE(skills->add("pdf", {{"SKILL.md", text}, {"forms.md", "# Forms\n"}}));
    EXPECT_TRUE(here.add(skills));
  }
  std::shared_ptr<skill_provider> skills = std::make_shared<skill_provider>("skills");
  server here = must(server::create());
};

TEST(mounted_skills, are_found_and_verified_under_the_prefix) {
  skill_server other;
  hearing log;
  server ours = must(server::create());
  ASSERT_TRUE(ours.add(mount(mounted_from(other.here, log))));
  auto asks = connected(ours);
  const auto all = asks.skills().collect();
  ASSERT_TRUE(all) << all.error().public_text;
  ASSERT_EQ(all->size(), 1u) << log.text();
  const auto& one = all->front();
  EXPECT_EQ(one.uri, "mcp://team/skill://pdf/SKILL.md");
  ASSERT_TRUE(one.files);
  for (const auto& file : *one.files) {
    const auto got = asks.read_skill_file(one, file.uri);
    EXPECT_TRUE(got) << file.uri << ": " << got.error().public_text;
  }
  const auto alone = asks.find_skill("mcp://team/skill://pdf/SKILL.md");
  ASSERT_TRUE(alone) << alone.error().public_text;
  EXPECT_EQ(alone->files, one.files);
}

TEST(mounted_skills, are_left_out_when_they_are_not_wanted) {
  skill_server other;
  hearing log;
  auto options = mounted_from(other.here, log);
  options.serves_skills = false;
  const auto mounted = mount(options);
  EXPECT_EQ(dynamic_cast<skill_source*>(mounted.get()), nullptr);
  EXPECT_THAT(uris_of(*mounted), testing::Contains("mcp://team/skill://pdf/SKILL.md")) << "they are resources all the same";
}

TEST(mounted_folders, are_listed_as_the_other_server_lists_them) {
  skill_server other;
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  auto request = asking<children_request>();
  request.uri = "mcp://team/skill://pdf";
  const auto got = mounted->children(request);
  ASSERT_TRUE(got) << got.error().public_text;
  std::vector<std::string> uris;
  for (const auto& one : got->entries) uris.push_back(one.uri);
  EXPECT_THAT(uris, ElementsAre("mcp://team/skill://pdf/SKILL.md", "mcp://team/skill://pdf/forms.md"));
}

/// A folder whose contents come with it, and a template for its entries.
class folder_provider final : public provider, public template_source, public completion_source {
 public:
  [[nodiscard]] std::string name() const override { return "notes"; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {"note:///"}; }
  [[nodiscard]] scheme_documentation documentation() const override {
    return {"note", "Notes.", {}, {{"note:///x", "A note."}}};
  }
  [[nodiscard]] result<list_result> list(const list_request&) override {
    list_result made;
    for (const auto* uri : {"note:///team", "note:///team/plan", "note:///team/secret"}) {
      made.entries.push_back({.uri = uri, .name = uri});
    }
    return made;
  }
  [[nodiscard]] result<read_result> read(const read_request& request) override {
    read_result made;
    const auto add = [&made](const std::string& uri, const std::string& text) {
      resource_content one;
      one.uri = uri;
      one.kind = content_kind::text;
      one.data = std::make_shared<const std::string>(text);
      made.contents.push_back(std::move(one));
    };
    add(request.uri, "listing");
    if (request.uri == "note:///team") {
      add("note:///team/plan", "plan");
      add("note:///team/secret", "secret");
    }
    return made;
  }
  [[nodiscard]] std::vector<resource_template> templates() const override {
    return {{.uri_template = "note:///team/{name}", .name = "note"}};
  }
  [[nodiscard]] result<complete_result> complete(const complete_request&) override {
    complete_result made;
    made.values = {"plan", "secret"};
    made.total = 2;
    return made;
  }
};

struct excluding_mount {
  excluding_mount() {
    EXPECT_TRUE(other.add(std::make_shared<folder_provider>()));
    auto options = mounted_from(other, log);
    options.exclude = {"note:///team/secret"};
    mounted = mount(options);
  }
  hearing log;
  server other = must(server::create());
  std::shared_ptr<mcp::mcp_provider> mounted;
};

TEST(mounted_excludes, hold_for_contents_that_come_with_a_folder) {
  excluding_mount made;
  const auto got = made.mounted->read(reading_of("mcp://team/note:///team"));
  ASSERT_TRUE(got) << got.error().public_text << made.log.text();
  std::vector<std::string> uris;
  for (const auto& one : got->contents) uris.push_back(one.uri.value_or(""));
  EXPECT_THAT(uris, ElementsAre("", "mcp://team/note:///team/plan"));
  EXPECT_FALSE(made.mounted->read(reading_of("mcp://team/note:///team/secret")));
}

TEST(mounted_excludes, hold_for_completions) {
  excluding_mount made;
  auto request = asking<complete_request>();
  request.uri_template = "mcp://team/note:///team/{name}";
  request.argument = "name";
  const auto got = made.mounted->complete(request);
  ASSERT_TRUE(got) << got.error().public_text << made.log.text();
  EXPECT_THAT(got->values, ElementsAre("plan"));
  EXPECT_FALSE(got->total);
}

/// Values of `argument` that a mount with these excludes offers of ann, bob and cy, while `context` is chosen.
std::vector<std::string> completed_values(const std::string& argument, const std::vector<std::string>& exclude,
                                          std::vector<std::pair<std::string, std::string>> context = {}) {
  const auto make = [](const read_request& request) -> result<read_result> { return text_read_result("of " + request.uri); };
  const auto complete = [](const complete_request&) -> result<complete_result> {
    return complete_result{{"ann", "bob", "cy"}, 3, false};
  };
  const auto memos = std::make_shared<memory_provider>("memos", "memo:///");
  EXPECT_TRUE(memos->add_template({.uri_template = "memo:///by/{who}/{topic}{?lines}", .name = "by"}, make, complete));
  server other = must(server::create());
  EXPECT_TRUE(other.add(memos));
  hearing log;
  auto options = mounted_from(other, log);
  options.exclude = exclude;
  const auto mounted = mount(options);
  auto request = asking<complete_request>();
  request.uri_template = "mcp://team/memo:///by/{who}/{topic}{?lines}";
  request.argument = argument;
  request.context = std::move(context);
  const auto got = mounted->complete(request);
  EXPECT_TRUE(got) << got.error().public_text << log.text();
  return got ? got->values : std::vector<std::string>();
}

TEST(mounted_excludes, hold_for_completions_while_other_variables_are_open) {
  EXPECT_THAT(completed_values("who", {"memo:///by/bob/**"}), ElementsAre("ann", "cy"));
  EXPECT_THAT(completed_values("who", {"memo:///by/*/bob"}), ElementsAre("ann", "bob", "cy"));
  EXPECT_THAT(completed_values("who", {"memo:///by/bob/x"}), ElementsAre("ann", "bob", "cy")) << "only one topic is left out";
  EXPECT_THAT(completed_values("topic", {"memo:///by/ann/bob"}, {{"who", "ann"}}), ElementsAre("ann", "cy"));
  EXPECT_THAT(completed_values("topic", {"memo:///by/*/bob"}), ElementsAre("ann", "cy"));
}

TEST(mounted_reads, are_made_only_once_for_a_version) {
  memo_server other;
  int reads = 0;
  ASSERT_TRUE(other.memos->add({.uri = "memo:///kept", .name = "kept", .version = "7"},
                               [&reads](const read_request& request) -> result<read_result> {
                                 if (request.cached_version == "7") {
                                   read_result same;
                                   same.version = "7";
                                   return same;
                                 }
                                 ++reads;
                                 auto made = text_read_result("content");
                                 made.version = "7";
                                 return made;
                               }));
  hearing log;
  const auto mounted = mount(mounted_from(other.here, log));
  const auto first = mounted->read(reading_of("mcp://team/memo:///kept"));
  ASSERT_TRUE(first) << first.error().public_text;
  EXPECT_EQ(bytes_of(first->contents[0]), "content");
  auto request = reading_of("mcp://team/memo:///kept");
  request.cached_version = first->version.empty() ? "7" : first->version;
  const auto again = mounted->read(request);
  ASSERT_TRUE(again) << again.error().public_text;
  EXPECT_TRUE(again->contents.empty() || bytes_of(again->contents[0]) == "content");
  EXPECT_EQ(reads, 1);
}

TEST(mounted_servers, are_connected_at_once_when_they_are_eager) {
  memo_server other;
  hearing log;
  hearing news;
  auto options = mounted_from(other.here, log);
  const auto lazy = mount(options);
  lazy->set_listener(std::make_shared<note_taker>(news));
  EXPECT_THAT(lazy->health().detail, HasSubstr("not used yet"));
  options.eager = true;
  options.name = "eager";
  options.prefix.reset();
  const auto eager = mount(options);
  eager->set_listener(std::make_shared<note_taker>(news));
  EXPECT_TRUE(log.hears("mount \"eager\": connected to")) << log.text();
  EXPECT_EQ(log.text().find("mount \"team\""), std::string::npos);
  lazy->set_listener(nullptr);
  eager->set_listener(nullptr);
}

TEST(mounted_servers, need_their_program_or_their_address) {
  hearing log;
  mount_options options;
  options.name = "team";
  options.target = child_target{.command = {"/bin/cat", "-"}, .working_directory = "/srv"};
  const auto as_child = mount(options)->requirements();
  EXPECT_THAT(as_child.programs, ElementsAre("/bin/cat"));
  options.target = http_target{.url = "https://wiki.example/mcp"};
  EXPECT_THAT(mount(options)->requirements().sockets, ElementsAre("wiki.example:443"));
  options.target = http_target{.url = "http://[::1]:81/mcp"};
  EXPECT_THAT(mount(options)->requirements().sockets, ElementsAre("[::1]:81"));
  options.target = http_target{.url = "http://x/mcp", .socket_path = "/run/wiki.sock"};
  EXPECT_THAT(mount(options)->requirements().sockets, ElementsAre("/run/wiki.sock"));
}

/// A server with access rules that mounts another, one of whose resources is for users.
struct ruled_server {
  explicit ruled_server(access_rule but, const std::optional<std::string>& revision = {}) {
    EXPECT_TRUE(
        other.memos->add({.uri = "memo:///kept", .name = "kept", .annotations = {.audience = {chat_role::user}}}, "a key"));
    server_options options;
    options.has_resource_tools = true;
    options.access.rules.push_back({.level = access_level::read});
    options.access.rules.push_back(std::move(but));
    here.emplace(must(server::create(std::move(options))));
    auto from = mounted_from(other.here, log);
    from.revision = revision;
    EXPECT_TRUE(here->add(mount(from)));
    asks.emplace(connected(*here));
    EXPECT_TRUE(asks->resources().collect());  // the mount knows them now
  }
  bool reads(const std::string& uri) { return asks->read(uri).has_value(); }
  bool reads_with_tool(const std::string& uri) {
    const auto got = asks->call_tool("read_resource", value(value::object{{"uri", uri}}));
    return got && !got->is_error;
  }

  memo_server other;
  hearing log;
  std::optional<server> here;
  std::optional<client> asks;
};

// attacks: traversal (a rule got round by another spelling)
TEST(mounted_servers, hide_what_access_rules_deny_however_it_is_spelled) {
  access_rule by_uri{.uris = {"mcp://team/memo:///a/deep"}};
  access_rule by_pattern{.patterns = {"mcp://team/memo:///a/*"}};
  for (const auto& rule : {by_uri, by_pattern}) {
    ruled_server one(rule);
    for (const std::string uri : {"memo:///a/deep", "MEMO:///a/deep", "Memo:///a/deep", "memo:/a/deep", "memo:///a//deep",
                                  "memo:///a%2Fdeep", "MEMO:///a/deep?lines=1"}) {
      EXPECT_FALSE(one.reads("mcp://team/" + uri)) << uri;
      EXPECT_FALSE(one.reads_with_tool("mcp://team/" + uri)) << uri;
    }
    EXPECT_TRUE(one.reads("mcp://team/MEMO:///a")) << "it is the same there, and allowed";
    EXPECT_TRUE(one.reads_with_tool("mcp://team/MEMO:///a"));
  }
}

// attacks: traversal (a rule got round by another spelling)
TEST(mounted_servers, hide_what_access_rules_deny_behind_a_prefix_of_their_own) {
  memo_server other;
  const auto docs = std::make_shared<memory_provider>("docs", "docs:keys");
  ASSERT_TRUE(docs->add({.uri = "docs:keys", .name = "keys"}, "a key"));
  ASSERT_TRUE(other.here.add(docs));
  for (const bool is_denied : {true, false}) {
    server_options options;
    options.access.rules.push_back({.level = access_level::read});
    if (is_denied) options.access.rules.push_back({.uris = {"notes://team/docs:keys"}});
    server here = must(server::create(std::move(options)));
    hearing log;
    auto from = mounted_from(other.here, log);
    from.prefix = "notes://team/";
    ASSERT_TRUE(here.add(mount(from)));
    client asks = connected(here);
    EXPECT_EQ(asks.read("notes://team/DOCS:keys").has_value(), !is_denied);
    EXPECT_TRUE(asks.read("notes://team/MEMO:///a"));
  }
}

TEST(mounted_servers, hide_what_access_rules_deny_by_its_entry_however_it_is_spelled) {
  // Servers of older revisions have only listed entries, and none for other spellings.
  for (const auto& revision : {std::optional<std::string>(), std::optional<std::string>("2025-06-18")}) {
    ruled_server one({.audience = chat_role::user}, revision);
    for (const std::string uri : {"memo:///kept", "MEMO:///kept", "memo:/kept", "memo:///kept?lines=1"})
      EXPECT_FALSE(one.reads("mcp://team/" + uri)) << uri << " of " << revision.value_or("newest");
    EXPECT_TRUE(one.reads("mcp://team/MEMO:///a")) << revision.value_or("newest");
  }
}

/// A home for log-ins, for as long as the test takes.
class home_of_log_ins {
 public:
  home_of_log_ins() {
    folder_ = (std::filesystem::temp_directory_path() / "log-ins-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("no folder");
    if (const char* const set = std::getenv("XDG_DATA_HOME"); set != nullptr) before_ = set;
    ::setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  }
  ~home_of_log_ins() {
    before_ ? ::setenv("XDG_DATA_HOME", before_->c_str(), 1) : ::unsetenv("XDG_DATA_HOME");
    std::filesystem::remove_all(folder_);
  }
  home_of_log_ins(const home_of_log_ins&) = delete;
  home_of_log_ins& operator=(const home_of_log_ins&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return folder_; }

 private:
  std::string folder_;
  std::optional<std::string> before_;
};

TEST(mounted_servers, need_the_folders_of_log_ins_and_of_the_key_that_renews_theirs) {
  const home_of_log_ins home;
  const auto store = credentials::make_store({.preferred_location = credentials::store_location::file});
  token_record tokens;
  tokens.key = {"https://a.example", "https://wiki.example/mcp", "ours", ""};
  ASSERT_TRUE(store->put(tokens));
  client_registration client{.client_id = "ours", .key_file = "/srv/keys/ours.pem"};
  ASSERT_TRUE(store->put_registration("https://a.example", client));
  client = {.client_id = "another", .key_file = "/srv/others/key.pem"};
  ASSERT_TRUE(store->put_registration("https://a.example", client));
  mount_options options;
  options.name = "team";
  http_target target{.url = "https://Wiki.example/mcp"};
  const auto folders = [&options, &target] {
    options.target = target;
    std::vector<std::string> out;
    for (const auto& one : mount(options)->requirements().folders) out.push_back((one.is_writable ? "w " : "r ") + one.path);
    return out;
  };
  EXPECT_THAT(folders(), testing::Not(testing::Contains("r /srv/keys"))) << "tokens are not sent at all";
  target.tokens = credentials::make_stored_token_source(target, store, "log in", {});
  ASSERT_TRUE(target.tokens);
  EXPECT_THAT(folders(), testing::IsSupersetOf({"w " + home.path() + "/hondana", std::string("r /srv/keys")}));
  EXPECT_THAT(folders(), testing::Not(testing::Contains("r /srv/others")));
}

}  // namespace
}  // namespace hondana::test
