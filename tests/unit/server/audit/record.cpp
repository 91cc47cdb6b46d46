/// Records: what stands in them, and how they are bound together.
#include "server/audit/audit_record.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace hondana::audit {
namespace {

using std::chrono::sys_days;

constexpr std::string_view zeros = "0000000000000000000000000000000000000000000000000000000000000000";

std::chrono::system_clock::time_point a_time() {
  using namespace std::chrono;
  return sys_days{year{2026} / 11 / 22} + hours(9) + minutes(8) + seconds(7) + microseconds(45);
}

TEST(audit_record, of_a_decision_says_who_asked_for_what_and_what_was_decided) {
  audit_decision what;
  what.time = a_time();
  what.identity = "alice";
  what.address = "192.0.2.7";
  what.client = "agent";
  what.method = "resources/read";
  what.uris = {"memo:///a", "memo:///b"};
  what.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  chain_position at;
  std::string out;
  append_record(out, at, decision_text(7, what));
  EXPECT_EQ(out, "{\"number\":1,\"previous\":\"" + std::string(zeros) +
                     R"(","type":"decision","time":"2026-11-22T09:08:07.000045Z","request":7,"identity":"alice",)"
                     R"("address":"192.0.2.7","client":"agent","method":"resources/read","uris":["memo:///a","memo:///b"],)"
                     R"("allowed":true,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"})"
                     "\n");
  EXPECT_EQ(at.number, 1u);
}

TEST(audit_record, has_its_time_to_the_microsecond_whatever_the_one_before_had) {
  using namespace std::chrono;
  const auto time_at = [](system_clock::time_point when) {
    const auto text = completion_text(1, {when, audit_outcome::answered, 0, 0, {}, {}});
    const auto at = text.find("\"time\":\"") + 8;
    return text.substr(at, text.find('"', at) - at);
  };
  const auto second = system_clock::time_point(sys_days{year{2026} / 12 / 31} + hours(23) + minutes(59) + seconds(59));
  EXPECT_EQ(time_at(second), "2026-12-31T23:59:59.000000Z");
  EXPECT_EQ(time_at(second + microseconds(999'999)), "2026-12-31T23:59:59.999999Z");
  EXPECT_EQ(time_at(second + microseconds(1'000'000)), "2027-01-01T00:00:00.000000Z");
  EXPECT_EQ(time_at(second + microseconds(100)), "2026-12-31T23:59:59.000100Z");
  EXPECT_EQ(time_at(system_clock::time_point(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(audit_record, of_a_refusal_says_why) {
  audit_decision what;
  what.time = a_time();
  what.address = "192.0.2.7";
  what.is_allowed = false;
  what.reason = "rejected_over_http";
  what.http_status = 401;
  EXPECT_EQ(decision_text(8, what),
            R"("type":"decision","time":"2026-11-22T09:08:07.000045Z","request":8,)"
            R"("address":"192.0.2.7","allowed":false,"reason":"rejected_over_http","http_status":401})");
}

TEST(audit_record, of_a_completion_says_how_it_ended) {
  EXPECT_EQ(completion_text(7, {a_time(), audit_outcome::truncated, -32602, 12, std::chrono::microseconds(34), {}}),
            R"("type":"completion","time":"2026-11-22T09:08:07.000045Z","request":7,"outcome":"truncated","error_code":-32602,)"
            R"("bytes":12,"duration_us":34})");
}

TEST(audit_record, cuts_what_a_peer_chose_at_a_whole_character) {
  audit_decision what;
  what.time = a_time();
  what.identity = std::string(299, 'a') + "\u3042";
  what.uris = {std::string(3000, 'u')};
  const auto text = decision_text(1, what);
  EXPECT_NE(text.find("\"identity\":\"" + std::string(299, 'a') + "\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"" + std::string(2000, 'u') + "...\""), std::string::npos);
}

TEST(audit_record, of_very_many_uris_stays_small_says_how_many_more_there_were_and_has_a_digest_of_all) {
  audit_decision what;
  what.time = a_time();
  what.uris.assign(10'000, std::string(1000, 'u'));
  const auto text = decision_text(1, what);
  EXPECT_LT(text.size(), 6000u);
  EXPECT_NE(text.find("\"omitted_uris\":9995"), std::string::npos) << text.substr(text.size() - 200);
  std::string all;
  for (const auto& one : what.uris) all += one + '\n';
  EXPECT_NE(text.find("\"uris_sha256\":\"" + bytes::to_hex(bytes::sha256_of(all)) + '"'), std::string::npos);
  what.uris = {"memo:///a"};
  EXPECT_EQ(decision_text(1, what).find("sha256"), std::string::npos) << "where all of them stand there";
  what.uris = {std::string(3000, 'u')};
  EXPECT_NE(decision_text(1, what).find("uris_sha256"), std::string::npos) << "of what was cut";
}

TEST(audit_record, says_how_many_refusals_it_stands_for) {
  audit_decision what;
  what.is_allowed = false;
  what.reason = "rejected_over_http";
  what.http_status = 401;
  EXPECT_TRUE(decision_text(8, what, 17).ends_with(R"("http_status":401,"count":17})")) << decision_text(8, what, 17);
}

TEST(audit_record, follows_only_the_record_before_it_as_it_was) {
  chain_position at;
  std::string out;
  append_record(out, at, closing_text());
  const auto first = out.substr(0, out.size() - 1);
  const auto after_first = at;
  out.clear();
  append_record(out, at, loss_text(3));
  const auto second = out.substr(0, out.size() - 1);

  const auto read_first = read_record(first, nullptr);
  ASSERT_TRUE(read_first) << read_first.error();
  EXPECT_EQ(*read_first, after_first);
  const auto read_second = read_record(second, &*read_first);
  ASSERT_TRUE(read_second) << read_second.error();
  EXPECT_EQ(*read_second, at);

  auto changed = first;
  changed.replace(changed.find("closed"), 6, "opened");
  const auto read_changed = read_record(changed, nullptr);
  ASSERT_TRUE(read_changed);
  EXPECT_EQ(read_record(second, &*read_changed).error(),
            "its hash of the previous record does not match: record 1 or this one was changed");
  EXPECT_EQ(read_record(first, &*read_second).error(), "record 3 is missing: found record 1");
}

TEST(audit_record, that_is_none_is_named) {
  const auto hash = std::string(zeros);
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "it is not JSON"},
           {"{\"number\":1", "it is not JSON"},
           {"[1]", "it is not a record"},
           {"{}", "it is not a record of an audit log"},
           {"{\"number\":\"1\",\"previous\":\"" + hash + "\"}", "it is not a record of an audit log"},
           {"{\"number\":0,\"previous\":\"" + hash + "\"}", "it is not a record of an audit log"},
           {"{\"number\":1,\"number\":1,\"previous\":\"" + hash + "\"}", "it is not a record of an audit log"},
           {"{\"number\":1,\"previous\":\"00\"}", "it has no hash of the previous record"},
           {"{\"number\":1,\"previous\":\"G" + hash.substr(1) + "\"}", "it has no hash of the previous record"},
           {"{\"number\":1,\"previous\":\"1" + hash.substr(1) + "\"}", "a first record cannot follow another"},
           {std::string(max_record_bytes + 1, ' '), "the record is longer than the maximum"}}) {
    const auto read = read_record(line, nullptr);
    ASSERT_FALSE(read) << line.substr(0, 100);
    EXPECT_EQ(read.error(), why) << line.substr(0, 100);
  }
}

}  // namespace
}  // namespace hondana::audit
