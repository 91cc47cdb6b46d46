/// Analyses in a Redis that ends, comes back or has no memory left, and what commands leave with.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::failed;
using program_test::folder;
using program_test::misused;
using program_test::not_found;
using program_test::outcome;
using program_test::output_to;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::served;
using program_test::unreachable;
using program_test::well;
using program_test::within;

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// On a socket in its own folder, until it is killed.
class made_redis {
 public:
  explicit made_redis(std::vector<std::string> more = {}) : more_(std::move(more)) { start(); }
  ~made_redis() { kill(); }
  made_redis(const made_redis&) = delete;
  made_redis& operator=(const made_redis&) = delete;

  void start() {
    std::vector<std::string> words{"--port",       "0",  "--unixsocket", in_.path("socket"), "--dir", in_.path(), "--save", "",
                                   "--appendonly", "yes"};
    words.insert(words.end(), more_.begin(), more_.end());
    server_ = std::make_unique<process>(std::move(words), output_to::pipe, "/usr/bin/redis-server");
    const auto until = within(patience);
    while (const auto line = server_->read_line(until))
      if (contains(*line, "ready to accept connections at")) return;
    ADD_FAILURE() << "Redis does not start: " << server_->errors();
  }
  void kill() {
    server_->signal(SIGKILL);
    EXPECT_TRUE(server_->leaves(within(patience)));
  }
  [[nodiscard]] std::string url() const { return "unix://" + in_.path("socket"); }

 private:
  folder in_;
  const std::vector<std::string> more_;
  std::unique_ptr<process> server_;
};

/// Files, and analyses wherever `where` says.
struct configured {
  explicit configured(const std::string& where) {
    files.put("design.md", "# Design\n\nThe shelf is made of oak.\n");
    kept.put("hondana.toml",
             "[[source]]\ntype = \"files\"\npaths = [\"" + files.path() + "\"]\n\n[[source]]\ntype = \"analyses\"\n" + where);
  }
  [[nodiscard]] std::string config() const { return kept.path("hondana.toml"); }
  [[nodiscard]] outcome command(std::vector<std::string> words) const {
    words.insert(words.begin(), "analysis");
    words.insert(words.end(), {"--config", config()});
    return run(std::move(words));
  }
  [[nodiscard]] outcome put(const std::string& json) const {
    kept.put("put.json", json);
    return command({"put", kept.path("put.json")});
  }
  folder files;
  folder kept;
};

std::string vote(const std::string& provider, const std::string& content) {
  return R"({"provider":")" + provider + R"(","content":")" + content + R"(","confidence":0.9,"agreement":0.9})";
}

std::string final_one(const std::string& prompt, const std::string& content = "yes", const std::string& said = "yes") {
  return R"({"prompt":")" + prompt + R"(","consensus":{"content":")" + content + R"(","confidence":0.9},"votes":[)" +
         vote("a", said) + ',' + vote("b", "yes") + "]}";
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(program_analyses_in_redis, are_left_out_of_what_the_whole_server_lists_and_searches_while_it_is_down) {
  made_redis redis;
  const configured what("redis_url = \"" + redis.url() + "\"\nredis_timeout = \"1m\"\n");
  served server({"--config", what.config()});
  const auto put = what.put(final_one("oak or beech?"));
  ASSERT_EQ(put.how, well) << put.errors;
  EXPECT_TRUE(contains(run({"ls", "--on", server.url()}).output, "wallbounce://analyses/"));
  redis.kill();
  const auto listed = run({"ls", "--on", server.url()});
  EXPECT_EQ(listed.how, well) << listed.errors;
  EXPECT_TRUE(contains(listed.output, "design.md"));
  EXPECT_FALSE(contains(listed.output, "wallbounce:")) << listed.output;
  const auto searched = run({"search", "design", "--on", server.url()});
  EXPECT_EQ(searched.how, well) << searched.errors;
  EXPECT_TRUE(contains(searched.output, "design.md")) << searched.output;
  EXPECT_NE(run({"read", "wallbounce://analyses", "--on", server.url()}).how, well);
  const auto checked = run({"check", "--config", what.config()});
  EXPECT_EQ(checked.how, failed);
  EXPECT_EQ(count_of(checked.errors, "check that it runs"), 1u) << checked.errors;
  const auto ls = what.command({"ls"});
  EXPECT_EQ(ls.how, unreachable) << ls.errors;
  redis.start();
  ASSERT_TRUE(hondana_test::eventually([&] {
    return contains(run({"ls", "--on", server.url()}).output, "wallbounce://analyses/");
  })) << server.program().errors();
  EXPECT_EQ(server.stop(SIGTERM), well) << server.program().errors();
}

TEST(program_analyses_in_redis, that_is_full_are_listed_and_removed_by_commands_that_start_then) {
  made_redis redis({"--maxmemory", "4mb", "--maxmemory-policy", "noeviction"});
  const configured what("redis_url = \"" + redis.url() + "\"\nredis_timeout = \"1m\"\n");
  outcome last{well, {}, {}};
  int count = 0;
  for (; count < 60 && last.how == well; ++count)
    last = what.put(final_one("p" + std::to_string(count), std::string(200'000, 'x')));
  EXPECT_EQ(last.how, unreachable) << last.errors;
  EXPECT_TRUE(contains(last.errors, "out of memory (maxmemory), so nothing was written")) << last.errors;
  EXPECT_TRUE(contains(last.errors, "hondana analysis rm")) << last.errors;
  const auto listed = what.command({"ls"});
  EXPECT_EQ(listed.how, well) << listed.errors;
  EXPECT_GE(count_of(listed.output, "\n"), static_cast<std::size_t>(count - 1));
  const auto removed = what.command({"rm", "--all"});
  EXPECT_EQ(removed.how, well) << removed.errors;
  const auto again = what.put(final_one("again"));
  EXPECT_EQ(again.how, well) << again.errors;
}

TEST(program_analyses_in_redis, with_a_password_that_others_can_read_are_a_matter_of_the_configuration) {
  made_redis redis;
  const configured what("redis_url = \"" + redis.url() + "\"\nredis_password_file = \"password\"\n");
  what.kept.put("password", "words\n");
  std::filesystem::permissions(what.kept.path("password"), std::filesystem::perms(0644));
  const auto refused = what.command({"ls"});
  EXPECT_EQ(refused.how, misused) << refused.errors;
  EXPECT_TRUE(contains(refused.errors, "chmod")) << refused.errors;
}

TEST(program_analyses_commands, leave_with_what_a_script_can_go_by) {
  const configured what("store = \"store/analyses.db\"\n");
  served server({"--config", what.config()});
  const auto claimed = run({"call", "analysis_claim", "prompt=taken", "--on", server.url()});
  ASSERT_EQ(claimed.how, well) << claimed.errors;
  const auto busy = what.put(final_one("taken"));
  EXPECT_EQ(busy.how, unreachable) << "later it may be another: " << busy.errors;
  EXPECT_TRUE(contains(busy.errors, "another caller is computing this analysis")) << busy.errors;
  const auto seven = run({"call", "analysis_put", "--arguments",
                          R"({"analysis":{"prompt":"p","consensus":{"content":"c","confidence":7}}})", "--on", server.url()});
  EXPECT_EQ(seven.how, misused) << seven.errors;
  EXPECT_TRUE(contains(seven.errors, "consensus.confidence")) << seven.errors;
  const auto none = run({"call", "analysis_get", "uri=wallbounce://analyses/" + std::string(32, '0'), "--on", server.url()});
  EXPECT_EQ(none.how, failed) << "its arguments are right: " << none.errors;
  const auto put = what.put(final_one("one"));
  ASSERT_EQ(put.how, well);
  const auto uri = put.output.substr(0, put.output.size() - 1);
  EXPECT_EQ(what.command({"get", uri + "?format=json"}).how, well);
  const auto xml = what.command({"get", uri + "?format=xml"});
  EXPECT_EQ(xml.how, misused) << xml.errors;
  EXPECT_EQ(what.command({"get", "wallbounce://analyses/" + std::string(32, '0')}).how, not_found);
  const auto stats = what.command({"stats"});
  EXPECT_TRUE(contains(stats.output, "Stored: 2 analyses, ")) << stats.output;
}

TEST(program_analyses_commands, show_all_of_them_in_one_help) {
  for (const auto& words : {std::vector<std::string>{"analysis", "--help"}, std::vector<std::string>{"help", "analysis"}}) {
    const auto help = run(words);
    EXPECT_EQ(help.how, well) << help.errors;
    for (const auto* one : {"hondana analysis put", "hondana analysis get", "hondana analysis ls", "hondana analysis rm",
                            "hondana analysis stats", "--session NAME", "--store FILE", "--all"})
      EXPECT_TRUE(contains(help.output, one)) << one << " is not in\n" << help.output;
  }
}

TEST(program_analyses_commands, leave_nothing_beside_a_file_that_is_no_store) {
  const folder notes;
  notes.put("notes.txt", std::string(200, 'n'));
  for (const auto* command : {"ls", "stats"}) {
    const auto refused = run({"analysis", command, "--store", notes.path("notes.txt")});
    EXPECT_EQ(refused.how, unreachable) << refused.errors;
    EXPECT_TRUE(contains(refused.errors, "it is not an SQLite file")) << refused.errors;
  }
  std::size_t count = 0;
  for (const auto& one : std::filesystem::directory_iterator(notes.path())) count += one.exists() ? 1 : 0;
  EXPECT_EQ(count, 1u);
}

TEST(program_analyses_commands, put_what_search_finds_by_a_word_of_a_vote_alone) {
  const configured what("store = \"store/analyses.db\"\n\n[search]\n");
  served server({"--config", what.config()});
  const auto put = what.put(final_one("which wood?", "the consensus says walnut", "one vote says zebrawood alone"));
  ASSERT_EQ(put.how, well) << put.errors;
  const auto uri = put.output.substr(0, put.output.size() - 1);
  for (const auto* word : {"zebrawood", "walnut"}) {
    outcome found{};
    EXPECT_TRUE(hondana_test::eventually([&] {
      found = run({"search", word, "--wait", "60", "--json", "--on", server.url()});
      return contains(found.output, uri);
    })) << word
        << found.output << found.errors;
  }
}

TEST(program_analyses_commands, say_that_what_is_of_a_redis_needs_one) {
  const configured what("store = \"store/analyses.db\"\nredis_timeout = \"1s\"\n");
  const auto refused = run({"check", "--config", what.config()});
  EXPECT_EQ(refused.how, misused) << refused.errors;
  EXPECT_TRUE(contains(refused.errors, "hondana.toml:")) << refused.errors;
  EXPECT_TRUE(contains(refused.errors, "requires redis_url, which is not set")) << refused.errors;
}

}  // namespace
