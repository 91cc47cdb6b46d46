/// Analyses read from JSON, refused, and written.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "sources/analyses/cache/analysis_json.hpp"
#include "unit/sources/analyses/cache/samples.hpp"

namespace hondana::analyses {
namespace {

std::string refusal(const std::string& json) {
  const auto got = decode(json);
  if (got) return "taken";
  EXPECT_TRUE(got.error().code == errc::invalid_argument || got.error().code == errc::response_too_large);
  return got.error().public_text;
}

TEST(analysis_json, of_a_whole_analysis_reads_back_equal) {
  const auto all = whole_analysis();
  const auto text = encode(all);
  const auto back = decode(text);
  ASSERT_TRUE(back) << back.error().public_text;
  EXPECT_EQ(*back, all);
  EXPECT_EQ(encode(*back), text);
}

TEST(analysis_json, is_read_from_a_text_with_every_member) {
  const auto got = decode(R"({
    "id":"fe6b1d0b3c1e00112233445566778899","status":"below","created":"2026-01-02T03:04:05.678Z","expires":"2026-01-03T00:00:00Z",
    "prompt":"なぜ","options":{"deep":[1,2.5,null]},"models":["m2","m1"],
    "context":[{"uri":"file:///a/b.txt","version":"7"},{"uri":"config://app/x"}],"task":"critical",
    "thresholds":{"confidence":0.95,"consensus":0.5,"providers":3},
    "consensus":{"content":"だから","confidence":1,"reasoning":"r"},
    "votes":[{"provider":"p","model":"m","content":"c","confidence":0,"reasoning":"","cost":0.1,"tokens":12,"agreement":0.25}],
    "rounds":[{"number":1,"votes":[],"at":"2026-01-02T03:04:05Z","milliseconds":3},{"number":4,"consensus":{"content":"","confidence":0.5}}],
    "flow":[{"round":1,"provider":"p","action":"asked","at":"2026-01-02T12:04:05+09:00","milliseconds":5,"note":"n"}],
    "errors":[{"provider":"q","round":2,"message":"quota","at":"2026-01-02T03:04:05Z"}],
    "totals":{"cost":0.3,"tokens":99,"milliseconds":1234},"session":"s","tags":["b","a","b"]})");
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_EQ(got->id, "fe6b1d0b3c1e00112233445566778899");
  EXPECT_EQ(got->status, analysis_status::below_thresholds);
  EXPECT_EQ(got->created_at, instant(milliseconds(1'767'323'045'678)));
  EXPECT_EQ(got->question.prompt, "なぜ");
  EXPECT_EQ(got->question.options.to_text(), R"({"deep":[1,2.5,null]})");
  EXPECT_EQ(got->question.models, (std::vector<std::string>{"m2", "m1"}));
  ASSERT_EQ(got->question.context.size(), 2u);
  EXPECT_EQ(got->question.context[0], (resource_version{"file:///a/b.txt", "7"}));
  EXPECT_EQ(got->task, task_type::critical);
  EXPECT_EQ(got->required, (thresholds{0.95, 0.5, 3}));
  EXPECT_EQ(*got->consensus, (consensus_answer{"だから", 1, "r"}));
  EXPECT_EQ(got->votes[0].tokens, 12u);
  EXPECT_EQ(got->votes[0].agreement, 0.25);
  EXPECT_EQ(got->rounds[1].number, 4u);
  EXPECT_EQ(got->flow[0].time, got->rounds[0].started_at);
  EXPECT_EQ(got->errors[0].message, "quota");
  EXPECT_EQ(got->total, (totals{0.3, 99, milliseconds(1234)}));
  EXPECT_EQ(got->tags, (std::vector<std::string>{"a", "b"}));
  const auto back = decode(encode(*got));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, *got);
}

TEST(analysis_json, needs_a_prompt_and_no_more) {
  const auto got = decode(R"({"prompt":"x"})");
  ASSERT_TRUE(got);
  EXPECT_EQ(encode(*got), R"({"prompt":"x","task":"basic"})");
  EXPECT_EQ(refusal("{}"), "prompt: missing");
  EXPECT_EQ(refusal(R"({"prompt":" \n\t"})"), "prompt: it is empty");
}

TEST(analysis_json, is_refused_by_the_path_of_what_is_wrong) {
  EXPECT_EQ(refusal(R"({"prompt":"x","consensus":{"content":"c","confidence":7}})"),
            "consensus.confidence: expected a number from 0 to 1, got 7");
  EXPECT_EQ(refusal(R"({"prompt":"x","consensus":{"content":"c","confidence":-0.1}})"),
            "consensus.confidence: expected a number from 0 to 1, got -0.1");
  EXPECT_EQ(
      refusal(R"({"prompt":"x","votes":[{"provider":"p","content":"c","confidence":0.5},{"provider":"q","content":"c"}]})"),
      "votes[1].confidence: missing");
  EXPECT_EQ(refusal(R"({"prompt":"x","votes":[{"provider":"p","content":"c","confidence":"high"}]})"),
            "votes[0].confidence: expected a number from 0 to 1, got \"high\"");
  EXPECT_EQ(refusal(R"({"prompt":7})"), "prompt: expected a string, got an integer");
  EXPECT_EQ(refusal(R"({"prompt":"x","votez":[]})"), "votez: unknown member");
  EXPECT_EQ(
      refusal(R"({"prompt":"x","rounds":[{"number":1,"votes":[{"provider":"p","content":"c","confidence":1,"score":3}]}]})"),
      "rounds[0].votes[0].score: unknown member");
  EXPECT_EQ(refusal(R"({"prompt":"x","rounds":[{"number":2},{"number":2}]})"), "rounds[1].number: round numbers must increase");
  EXPECT_EQ(refusal(R"({"prompt":"x","rounds":[{}]})"), "rounds[0].number: missing");
  EXPECT_EQ(refusal(R"({"prompt":"x","task":"huge"})"), "task: expected basic, premium or critical");
  EXPECT_EQ(refusal(R"({"prompt":"x","thresholds":{"providers":0}})"),
            "thresholds.providers: expected an integer from 1 to 64, got 0");
  EXPECT_EQ(refusal(R"({"prompt":"x","totals":{"cost":-1}})"), "totals.cost: expected a number from 0 to 1e15, got -1");
  EXPECT_EQ(refusal(R"({"prompt":"x","totals":{"tokens":1.5}})"),
            "totals.tokens: expected an integer from 0 to 9007199254740992, got 1.5");
  EXPECT_EQ(refusal(R"({"prompt":"x","context":[{"uri":"file:///a"},{"uri":"file:///a"}]})"),
            "context[1].uri: it is in the context twice");
  EXPECT_EQ(refusal(R"({"prompt":"x","session":"a\u0000b"})"),
            "session: expected one line of text without control characters, got \"a\\u0000b\"");
  EXPECT_EQ(refusal(R"({"prompt":"x","tags":[""]})"),
            "tags[0]: expected one line of text without control characters, got \"\"");
  EXPECT_EQ(refusal(R"({"prompt":"x","id":"../../etc"})"),
            "id: expected 32 hexadecimal digits in lower case; leave it out for a new analysis");
  EXPECT_EQ(refusal(R"({"prompt":"x","flow":[{"action":"a","at":"yesterday"}]})"),
            "flow[0].at: expected a time such as 2025-01-12T15:00:58Z, got \"yesterday\"");
  EXPECT_EQ(refusal("[1]"), "the analysis: expected an object, got an array");
  EXPECT_NE(refusal(R"({"prompt":"x","context":[{"uri":"no uri"}]})").find("context[0].uri: "), std::string::npos);
  EXPECT_NE(refusal(R"({"prompt":"x","prompt":"y"})").find("occurs twice"), std::string::npos);
  EXPECT_NE(refusal(R"({"prompt":"x")").size(), 0u);
}

TEST(analysis_json, knows_members_by_their_case) { EXPECT_EQ(refusal(R"({"Prompt":"x"})"), "Prompt: unknown member"); }

TEST(analysis_json, with_two_votes_of_one_provider_is_refused_and_in_rounds_it_is_not) {
  EXPECT_EQ(
      refusal(
          R"({"prompt":"x","votes":[{"provider":"p","content":"c","confidence":1},{"provider":"p","content":"d","confidence":1}]})"),
      "votes[1].provider: this provider already has a vote; put earlier votes into rounds");
  EXPECT_TRUE(decode(R"({"prompt":"x","rounds":[{"number":1,"votes":[{"provider":"p","content":"c","confidence":1}]},
    {"number":2,"votes":[{"provider":"p","content":"c","confidence":1}]}]})"));
}

TEST(analysis_json, of_ill_formed_utf_8_is_refused) {
  EXPECT_NE(refusal("{\"prompt\":\"\xff\xfe\"}"), "taken");
  EXPECT_NE(refusal("{\"prompt\":\"\xe3\x81\"}"), "taken");
  EXPECT_NE(refusal("{\"prompt\":\"\\ud800\"}"), "taken");
  EXPECT_NE(refusal("{\"prompt\":\"x\",\"\xc0\xaf\":1}"), "taken");
}

TEST(analysis_json, of_fifty_megabytes_is_refused_and_the_cap_named) {
  const auto said = refusal(R"({"prompt":"x","consensus":{"confidence":1,"content":")" + std::string(50'000'000, 'a') + "\"}}");
  EXPECT_NE(said.find("16777216 bytes of JSON (16 MiB)"), std::string::npos) << said;
  EXPECT_EQ(refusal(R"({"prompt":"x","consensus":{"confidence":1,"content":")" + std::string(max_text_bytes + 1, 'a') + "\"}}"),
            "consensus.content: it has 8388609 bytes; at most 8388608 are allowed");
}

TEST(analysis_json, has_prompts_of_a_mebibyte_at_most) {
  EXPECT_EQ(refusal(R"({"prompt":")" + std::string(max_prompt_bytes + 1, 'a') + "\"}"),
            "prompt: it has 1048577 bytes; at most 1048576 are allowed");
}

TEST(analysis_json, with_too_many_of_anything_is_refused) {
  std::string votes;
  for (std::size_t i = 0; i <= max_votes; ++i)
    votes += std::string(i == 0 ? "" : ",") + R"({"provider":"p)" + std::to_string(i) + R"(","content":"","confidence":0})";
  EXPECT_EQ(refusal(R"({"prompt":"x","votes":[)" + votes + "]}"), "votes: it has 65 elements; at most 64 are allowed");
  std::string deep(200, '[');
  EXPECT_NE(refusal(R"({"prompt":"x","options":{"a":)" + deep + std::string(200, ']') + "}}"), "taken");
}

TEST(analysis_json, is_put_together_of_a_body_and_what_a_store_gives) {
  auto what = small_analysis("x");
  const auto body = encode_body(what);
  what.id = "fe6b1d0b3c1e00112233445566778899";
  what.status = analysis_status::complete;
  what.created_at = instant(milliseconds(1'764'000'000'000));
  what.expires_at = instant(milliseconds(1'764'000'000'001));
  EXPECT_EQ(encode(body, what.id, *what.status, *what.created_at, *what.expires_at), encode(what));
}

TEST(analysis_json, is_read_as_the_argument_of_a_tool_with_its_path) {
  const auto from = value::parse(R"({"prompt":"x","votes":[{"provider":"p","content":"c","confidence":2}]})");
  ASSERT_TRUE(from);
  const auto got = decode(*from, "analysis");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().public_text, "analysis.votes[0].confidence: expected a number from 0 to 1, got 2");
  const auto asked = decode_question(*value::parse(R"({"prompt":"x","task":"basic"})"), "question");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().public_text, "question.task: unknown member");
}

TEST(judgement_of_an_analysis, names_the_threshold_that_it_misses) {
  auto what = small_analysis("x");
  EXPECT_EQ(judge(what, {0.9, 0.85, 2}).status, analysis_status::complete);
  EXPECT_EQ(judge(what, {0.95, 0, 1}).reason, "its confidence is 0.9, but 0.95 is the minimum for a basic task");
  EXPECT_EQ(judge(what, {0, 0.9, 1}).reason, "its agreement is 0.85, but 0.9 is the minimum for a basic task");
  EXPECT_EQ(judge(what, {0, 0, 3}).reason, "providers that have voted: 2, but the minimum for a basic task is 3");
  what.consensus.reset();
  EXPECT_EQ(judge(what, {}).reason, "it has no consensus");
  EXPECT_EQ(stricter_of({0.1, 0.9, 3}, {0.5, 0.2, 1}), (thresholds{0.5, 0.9, 3}));
}

TEST(totals_of_an_analysis, are_those_given_and_the_sums_of_votes_and_rounds_for_the_rest) {
  auto what = whole_analysis();
  EXPECT_EQ(totals_of(what), what.total) << "given ones win";
  what.total = {};
  EXPECT_NEAR(totals_of(what).cost, 0.15, 1e-9) << "what is in the last round and in the votes is counted once";
  EXPECT_EQ(totals_of(what).tokens, 22'116u);
  EXPECT_EQ(totals_of(what).duration, milliseconds(12'600));
  what.total.duration = milliseconds(1);
  EXPECT_EQ(totals_of(what).duration, milliseconds(1));
  EXPECT_EQ(totals_of(what).tokens, 22'116u) << "each for itself";

  what = small_analysis("no rounds");
  what.total = {};
  EXPECT_NEAR(totals_of(what).cost, 0.025, 1e-9);
  EXPECT_EQ(totals_of(what).tokens, 3'686u);
  EXPECT_EQ(totals_of(what).duration, milliseconds(0));
  voting_round before;
  before.votes = {vote_of("a")};
  before.votes.front().content = "no";
  what.rounds = {before};
  EXPECT_EQ(totals_of(what).tokens, 5'529u) << "another answer is one more";
  what.rounds.front().votes.front() = what.votes.front();
  what.votes.front().tokens = 0;
  EXPECT_EQ(totals_of(what).tokens, 3'686u) << "the same answer, of which one place says what it cost";

  for (auto& one : what.votes) one.tokens = std::uint64_t{1} << 53;
  EXPECT_EQ(totals_of(what).tokens, std::uint64_t{1} << 53) << "as much as can be written";
  EXPECT_EQ(totals_of({}), totals());
}

TEST(analysis_json, is_read_back_though_what_is_told_of_it_makes_it_longer) {
  analysis what;
  what.question.prompt = "p";
  std::string body = encode_body(what);
  const auto told = [&] {
    return encode(body, std::string(32, 'a'), analysis_status::complete, instant(milliseconds(1)), instant(milliseconds(2)));
  };
  what.consensus = consensus_answer{"c", 1, {}};
  what.flow.resize(1);
  what.flow.front().action = "asked";
  for (std::size_t size = encode_body(what).size(); size < max_analysis_bytes; size = encode_body(what).size()) {
    vote more;
    more.provider = "p" + std::to_string(what.votes.size());
    more.confidence = 1;
    const auto frame = encode_body(what).size();
    more.content = "x";
    what.votes.push_back(more);
    const auto with_one = encode_body(what).size();
    const auto room = max_analysis_bytes - std::min(max_analysis_bytes, with_one) + 1;
    what.votes.back().content = std::string(std::min<std::size_t>(room, max_text_bytes), 'x');
    ASSERT_GT(encode_body(what).size(), frame);
  }
  body = encode_body(what);
  ASSERT_EQ(body.size(), max_analysis_bytes);
  EXPECT_FALSE(decode(told()));
  EXPECT_TRUE(decode_stored(told())) << decode_stored(told()).error().public_text;
}

}  // namespace
}  // namespace hondana::analyses
