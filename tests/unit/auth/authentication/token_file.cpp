/// Files of tokens: their lines, changes by several at once, and the authenticator that reads them.
#include "auth/authentication/token_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <hondana/authenticators.hpp>
#include <hondana/clock.hpp>

#include "os/disk/private_file.hpp"
#include "unit/auth/authentication/issuer.hpp"

namespace {

using hondana::auth_result;
using hondana::errc;
using hondana::authentication::add_token;
using hondana::authentication::line_of;
using hondana::authentication::load_tokens;
using hondana::authentication::parse_token_line;
using hondana::authentication::parse_tokens;
using hondana::authentication::revoke_token;
using hondana::authentication::stored_token;
using hondana::authentication::wall_time;
using hondana::authentication::without_token;
using hondana_test::soon;
using hondana_test::with_token;

constexpr auto good_line =
    R"({"id":"a1","name":"laptop","sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",)"
    R"("scopes":["read"],"created":"2026-07-28T12:00:00Z","expires":"2027-01-01"})";

wall_time today() { return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::string with(std::string line, const std::string& what, const std::string& by) {
  const auto at = line.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return line.replace(at, what.size(), by);
}

class token_folder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/token_folder_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
    file_ = folder_ + "/tokens";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& text) { ASSERT_TRUE(hondana::disk::replace_private(file_, text)); }
  std::string make(const std::string& name, std::vector<std::string> scopes = {}, std::optional<wall_time> expires = {}) {
    auto made = add_token(file_, {name, std::move(scopes), expires}, today());
    EXPECT_TRUE(made) << made.error().public_text;
    last_id_ = made ? made->stored.id : "";
    return made ? made->token : "";
  }
  std::shared_ptr<hondana::authenticator> judge() {
    auto made = hondana::make_token_file_authenticator(
        {file_, {"read"}, [this](std::string_view line) { log_ += std::string(line) + '\n'; }});
    EXPECT_TRUE(made) << made.error().public_text;
    return made.value_or(nullptr);
  }
  static auth_result ask(hondana::authenticator& whom, const std::string& token) {
    if (auto said = whom.try_authenticate(with_token(token))) return std::move(*said);
    return whom.authenticate(with_token(token), soon());
  }

  std::string folder_;
  std::string file_;
  std::string last_id_;
  std::string log_;
};

TEST(token_line, is_read_as_it_is_written) {
  const auto token = parse_token_line(good_line);
  ASSERT_TRUE(token) << token.error().public_text;
  EXPECT_EQ(token->id, "a1");
  EXPECT_EQ(token->name, "laptop");
  EXPECT_EQ(token->scopes, std::vector<std::string>{"read"});
  ASSERT_TRUE(token->expires_at);
  const auto again = parse_token_line(line_of(*token));
  ASSERT_TRUE(again) << again.error().public_text;
  EXPECT_EQ(again->hash, token->hash);
  EXPECT_EQ(again->created, token->created);
  EXPECT_EQ(again->expires_at, token->expires_at);
  EXPECT_EQ(line_of(*again), line_of(*token));
}

TEST(token_line, that_is_wrong_says_which_member) {
  const auto why = [](const std::string& line) {
    const auto token = parse_token_line(line);
    return token ? std::string("taken") : token.error().public_text;
  };
  EXPECT_NE(why("").find("JSON"), std::string::npos);
  EXPECT_NE(why("[]").find("JSON"), std::string::npos);
  EXPECT_NE(why(std::string(good_line).substr(0, 80)).find("JSON"), std::string::npos);
  EXPECT_NE(why("{}").find("id"), std::string::npos);
  EXPECT_NE(why(with(good_line, "\"laptop\"", "\"two words\"")).find("name"), std::string::npos);
  EXPECT_NE(why(with(good_line, "\"laptop\"", "7")).find("name"), std::string::npos);
  EXPECT_NE(why(with(good_line, "b855\"", "b85\"")).find("sha256"), std::string::npos);
  EXPECT_NE(why(with(good_line, "b855\"", "B855\"")).find("sha256"), std::string::npos);
  EXPECT_NE(why(with(good_line, "[\"read\"]", "\"read\"")).find("scopes"), std::string::npos);
  EXPECT_NE(why(with(good_line, "\"read\"", "\"two words\"")).find("scopes"), std::string::npos);
  EXPECT_NE(why(with(good_line, "2027-01-01", "soon")).find("expires"), std::string::npos);
  EXPECT_NE(why(with(good_line, "\"2027-01-01\"", "5")).find("expires"), std::string::npos);
  EXPECT_NE(why(with(good_line, "laptop", std::string(20'000, 'a'))).find("JSON"), std::string::npos);
}

TEST(token_lines, that_are_bad_or_torn_admit_nobody_and_spoil_no_other) {
  const auto second = with(good_line, "\"a1\"", "\"b2\"");
  const auto list = parse_tokens("# a comment\n\n" + std::string(good_line) + "\nnonsense\n" + second + "\n" +
                                 std::string(good_line).substr(0, 60));
  ASSERT_EQ(list.tokens.size(), 2u);
  EXPECT_EQ(list.tokens[1].id, "b2");
  ASSERT_EQ(list.bad_lines.size(), 2u);
  EXPECT_EQ(list.bad_lines[0].line, 4u);
  EXPECT_EQ(list.bad_lines[1].line, 6u);
  EXPECT_EQ(parse_tokens(std::string(1000, '\n') + "x\n").bad_lines.at(0).line, 1001u);
}

TEST(token_lines, are_taken_out_by_id_and_the_others_stay_as_they_were) {
  const auto text = "# mine\nnonsense\n" + std::string(good_line) + "\n" + with(good_line, "\"a1\"", "\"b2\"");
  EXPECT_EQ(without_token(text, "a1"), "# mine\nnonsense\n" + with(good_line, "\"a1\"", "\"b2\""));
  EXPECT_FALSE(without_token(text, "c3"));
}

TEST_F(token_folder, gets_tokens_that_are_random_and_are_kept_as_hashes_only) {
  std::set<std::string> all;
  for (int one = 0; one < 20; ++one) all.insert(make("laptop", {"read"}));
  EXPECT_EQ(all.size(), 20u);
  const auto text = hondana::disk::read_private(file_, 1 << 20)->bytes;
  for (const auto& one : all) {
    EXPECT_EQ(one.size(), 8u + 43u);
    EXPECT_TRUE(one.starts_with("hondana_"));
    EXPECT_EQ(text.find(one), std::string::npos);
    EXPECT_EQ(text.find(one.substr(8)), std::string::npos);
  }
  EXPECT_EQ(load_tokens(file_)->list.tokens.size(), 20u);
}

TEST_F(token_folder, refuses_names_and_scopes_that_are_none) {
  EXPECT_EQ(add_token(file_, {"two words", {}, {}}, today()).error().code, errc::invalid_argument);
  EXPECT_EQ(add_token(file_, {"", {}, {}}, today()).error().code, errc::invalid_argument);
  EXPECT_EQ(add_token(file_, {"x", {"a b"}, {}}, today()).error().code, errc::invalid_argument);
  EXPECT_EQ(revoke_token(file_, "none").error().code, errc::resource_not_found);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(token_folder, changed_by_several_at_once_loses_no_token) {
  std::vector<std::thread> all;
  for (int thread = 0; thread < 4; ++thread) {
    all.emplace_back([this, thread] {
      for (int turn = 0; turn < 10; ++turn) {
        const auto made = add_token(file_, {"n" + std::to_string(thread), {}, {}}, today());
        ASSERT_TRUE(made) << made.error().public_text;
        if (turn % 2 == 0) {
          const auto gone = revoke_token(file_, made->stored.id);
          ASSERT_TRUE(gone) << gone.error().public_text;
        }
      }
    });
  }
  for (auto& one : all) one.join();
  const auto list = load_tokens(file_)->list;
  EXPECT_EQ(list.tokens.size(), 20u);
  EXPECT_TRUE(list.bad_lines.empty());
}

TEST_F(token_folder, says_whose_a_token_is) {
  const auto token = make("laptop", {"read", "list"});
  const auto whom = judge();
  const auto said = ask(*whom, token);
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(said->identity, "token:laptop");
  EXPECT_EQ(said->address, "192.0.2.7");
  EXPECT_EQ(said->auth_info->scopes, (std::vector<std::string>{"read", "list"}));
  EXPECT_EQ(said->auth_info->claims->string_at("token").value_or(""), last_id_);
  EXPECT_FALSE(whom->metadata());
}

TEST_F(token_folder, is_read_again_without_another_thread) {
  const auto first = make("laptop");
  const auto whom = judge();
  const auto second = make("phone");
  const auto said = whom->try_authenticate(with_token(second));
  ASSERT_TRUE(said && *said);
  EXPECT_EQ((*said)->identity, "token:phone");
  EXPECT_TRUE(*whom->try_authenticate(with_token(first)));
}

TEST_F(token_folder, of_a_service_stays_readable_for_it_when_root_revokes) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  make("laptop");
  ASSERT_EQ(::chown(file_.c_str(), 4242, 4343), 0);
  EXPECT_EQ(load_tokens(file_).error().code, errc::access_denied);
  EXPECT_EQ(load_tokens(file_, hondana::disk::accepted_owners::anyone_if_root)->list.tokens.size(), 1u);
  ASSERT_TRUE(revoke_token(file_, last_id_));
  struct stat facts{};
  ASSERT_EQ(::stat(file_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_uid, 4242u);
}

TEST_F(token_folder, refuses_what_is_no_token_of_it) {
  const auto token = make("laptop");
  const auto whom = judge();
  const auto none = whom->try_authenticate({});
  ASSERT_TRUE(none && !*none);
  EXPECT_EQ(none->error().error, "");
  EXPECT_EQ(none->error().scopes, std::vector<std::string>{"read"});
  auto changed = token;
  changed.back() = changed.back() == 'A' ? 'E' : 'A';
  for (const auto& bad : {changed, token + "x", token.substr(0, 20), std::string("hondana_"), std::string("ey.J.x"),
                          std::string(), "hondana_" + std::string(20'000, 'a'), std::string("hondana_a b")}) {
    const auto said = ask(*whom, bad);
    ASSERT_FALSE(said) << bad;
    EXPECT_EQ(said.error().status, 401);
    EXPECT_EQ(said.error().error, "invalid_token");
  }
}

TEST_F(token_folder, takes_a_token_no_more_once_it_has_expired) {
  const auto over = make("laptop", {}, today() - std::chrono::seconds(1));
  const auto lasting = make("laptop", {}, today() + std::chrono::hours(1));
  const auto whom = judge();
  EXPECT_NE(ask(*whom, over).error().description.find("expired"), std::string::npos);
  EXPECT_TRUE(ask(*whom, lasting));
}

TEST_F(token_folder, is_to_be_asked_again_within_half_a_minute_and_when_a_token_expires) {
  const hondana::manual_clock clock;
  const auto lasting = make("laptop", {}, today() + std::chrono::hours(1));
  const auto end = today() + std::chrono::seconds(20);
  const auto ending = make("phone", {}, end);
  const auto whom = judge();
  const auto said = ask(*whom, lasting);
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(said->expires_at - hondana::monotonic_clock::now(), std::chrono::seconds(30));
  // The time of day goes on.
  const auto before = std::chrono::system_clock::now();
  const auto soon_over = ask(*whom, ending);
  const auto after = std::chrono::system_clock::now();
  if (soon_over) {
    EXPECT_LE(soon_over->expires_at - hondana::monotonic_clock::now(), end - before);
    EXPECT_GE(soon_over->expires_at - hondana::monotonic_clock::now(), end - after);
  } else {
    EXPECT_GE(after, end);
  }
}

TEST_F(token_folder, a_new_token_is_taken_and_a_revoked_one_refused_at_the_very_next_request) {
  const auto first = make("laptop");
  const auto whom = judge();
  ASSERT_TRUE(ask(*whom, first));
  for (int turn = 0; turn < 50; ++turn) {
    const auto token = make("phone");
    ASSERT_TRUE(ask(*whom, token)) << turn;
    ASSERT_TRUE(revoke_token(file_, last_id_));
    const auto said = ask(*whom, token);
    ASSERT_FALSE(said) << turn;
    EXPECT_NE(said.error().description.find("revoked"), std::string::npos);
  }
  EXPECT_TRUE(ask(*whom, first));
}

TEST_F(token_folder, that_others_can_read_is_refused_at_the_start_and_later_with_the_remedy) {
  const auto token = make("laptop");
  const auto whom = judge();
  ASSERT_TRUE(ask(*whom, token));
  ASSERT_EQ(::chmod(file_.c_str(), 0644), 0);
  const auto late = ask(*whom, token);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().status, 503);
  EXPECT_EQ(late.error().description.find(file_), std::string::npos);
  EXPECT_NE(log_.find("chmod 600"), std::string::npos) << log_;
  const auto made = hondana::make_token_file_authenticator({file_, {}, {}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().public_text.find("chmod 600"), std::string::npos);
  ASSERT_EQ(::chmod(file_.c_str(), 0600), 0);
  EXPECT_TRUE(ask(*whom, token));
}

TEST_F(token_folder, that_goes_away_lets_nobody_in_and_one_that_never_was_is_an_error) {
  const auto missing = hondana::make_token_file_authenticator({file_, {}, {}});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().public_text.find("hondana token new"), std::string::npos) << missing.error().public_text;
  const auto token = make("laptop");
  const auto whom = judge();
  std::filesystem::remove(file_);
  EXPECT_EQ(ask(*whom, token).error().status, 503);
  const auto other = make("laptop");
  EXPECT_TRUE(ask(*whom, other));
  EXPECT_FALSE(ask(*whom, token));
}

TEST_F(token_folder, with_bad_lines_tells_them_and_takes_the_others) {
  const auto token = make("laptop");
  const auto text = hondana::disk::read_private(file_, 1 << 20)->bytes;
  write("nonsense\n" + text + text.substr(0, 30));
  const auto whom = judge();
  EXPECT_TRUE(ask(*whom, token));
  EXPECT_NE(log_.find(file_ + ":1 is ignored"), std::string::npos) << log_;
  EXPECT_NE(log_.find(file_ + ":3 is ignored"), std::string::npos) << log_;
  EXPECT_EQ(log_.find("nonsense"), std::string::npos);
  // A torn last line is not glued to the next.
  const auto next = make("phone");
  EXPECT_TRUE(ask(*whom, next));
}

TEST_F(token_folder, holds_a_hundred_thousand_tokens) {
  const auto mine = make("laptop");
  std::string text = hondana::disk::read_private(file_, 1 << 20)->bytes;
  for (int one = 0; one < 100'000; ++one) {
    text += line_of({"i" + std::to_string(one), "n", hondana::bytes::sha256_of(std::to_string(one)), {"read"}, today(), {}});
  }
  write(text);
  const auto whom = judge();
  EXPECT_TRUE(ask(*whom, mine));
  EXPECT_FALSE(ask(*whom, "hondana_x"));
  const auto another = make("laptop");
  EXPECT_TRUE(ask(*whom, another));
  EXPECT_TRUE(ask(*whom, mine));
}

}  // namespace
