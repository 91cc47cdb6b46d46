/// Notices of Drive: which are ours, what they do, and channels that are replaced in time.
#include "sources/gdrive/notification_channels.hpp"
#include "unit/sources/gdrive/paper_drive.hpp"

namespace hondana::gdrive {
namespace {

webhook_request of(std::string id, std::string secret, std::string state = "change") {
  return {{{"x-goog-channel-id", std::move(id)},
           {"x-goog-channel-token", std::move(secret)},
           {"x-goog-resource-state", std::move(state)}}};
}

TEST(gdrive_channels, only_a_notice_with_the_secret_is_ours) {
  channel_registry all;
  const auto now = channel_registry::clock::now();
  const auto asked = channel_registry::make_request("", "c1", "https://hondana.example/notify/team");
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->token.size(), 64u);
  EXPECT_EQ(asked->address, "https://hondana.example/notify/team");
  EXPECT_EQ(all.classify(of(asked->id, asked->token)), channel_registry::notification_kind::unauthenticated);
  all.add_pending("", *asked, now);
  EXPECT_EQ(all.classify(of(asked->id, asked->token, "sync")), channel_registry::notification_kind::sync)
      << "it may come before the answer";
  drive::channel answer;
  answer.id = asked->id;
  EXPECT_FALSE(all.activate("", answer, now));
  EXPECT_EQ(all.classify(of(asked->id, asked->token)), channel_registry::notification_kind::change);
  EXPECT_EQ(all.classify(of(asked->id, "")), channel_registry::notification_kind::unauthenticated);
  EXPECT_EQ(all.classify(of(asked->id, asked->token + "x")), channel_registry::notification_kind::unauthenticated);
  EXPECT_EQ(all.classify(of(asked->id, std::string(64, '0'))), channel_registry::notification_kind::unauthenticated);
  EXPECT_EQ(all.classify(of("", "")), channel_registry::notification_kind::unauthenticated);
  EXPECT_EQ(all.classify({}), channel_registry::notification_kind::unauthenticated);
  all.remove("");
  EXPECT_EQ(all.classify(of(asked->id, asked->token)), channel_registry::notification_kind::unauthenticated);
}

TEST(gdrive_channels, are_replaced_before_they_end_and_not_asked_for_in_vain) {
  channel_registry all;
  const auto now = channel_registry::clock::now();
  EXPECT_TRUE(all.needs_channel("", now));
  all.record_rejection("", now);
  EXPECT_FALSE(all.needs_channel("", now));
  EXPECT_TRUE(all.needs_channel("", now + std::chrono::hours(1)));
  const auto first = channel_registry::make_request("", "c1", "https://a.example").value();
  all.add_pending("", first, now);
  drive::channel answer;
  answer.id = first.id;
  answer.resource_id = "r1";
  answer.expires_at = std::chrono::floor<std::chrono::milliseconds>(now + std::chrono::hours(24));
  EXPECT_FALSE(all.activate("", answer, now));
  EXPECT_FALSE(all.needs_channel("", now + std::chrono::hours(22)));
  EXPECT_TRUE(all.needs_channel("", now + std::chrono::minutes(23 * 60 + 30)));
  const auto second = channel_registry::make_request("", "c2", "https://a.example").value();
  EXPECT_NE(second.id, first.id);
  all.add_pending("", second, now);
  EXPECT_EQ(all.classify(of(first.id, first.token)), channel_registry::notification_kind::change)
      << "until the other one is there";
  const auto before = all.activate("", {}, now);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->id, first.id);
  EXPECT_EQ(before->resource_id, "r1");
  EXPECT_EQ(all.classify(of(first.id, first.token)), channel_registry::notification_kind::unauthenticated);
  EXPECT_EQ(all.open_count(), 1u);
}

struct gdrive_notices : served_drive {};

TEST_F(gdrive_notices, a_notice_makes_the_next_poll_now) {
  manual_clock clock;
  paper->hold(paper_file("1a", "Plan"));
  auto how = usual();
  how.name = "team";
  how.notification_url = "https://hondana.example";
  how.min_interval = how.max_interval = std::chrono::hours(1000);  // longer than any test advances
  const auto drive = serve(std::move(how));
  EXPECT_TRUE(drive->accepts_webhooks());
  // Once all has been listed, so that this brings one poll and the channel with it, and no other poll comes.
  EXPECT_TRUE(lists(*drive, "gdrive://my-drive/Plan"));
  drive->on_server_listening();
  const auto later = [&clock](const auto& is_so) {
    return [&clock, is_so] {
      clock.advance(std::chrono::seconds(1));  // between two polls that something asks for
      return is_so();
    };
  };
  EXPECT_TRUE(becomes(later([&] { return drive->health().detail.find("1 channels") != std::string::npos; })));
  drive::watch_request asked;
  paper->alter([&asked](auto& all) { asked = all.watches.front(); });
  EXPECT_EQ(asked.address, "https://hondana.example/notify/team");
  paper->change(paper_file("1b", "New"));
  EXPECT_FALSE(drive->handle_webhook(of(asked.id, "guessed")));
  EXPECT_FALSE(lists(*drive, "gdrive://my-drive/New"));
  ears->forget();
  EXPECT_TRUE(drive->handle_webhook(of(asked.id, asked.token)));
  EXPECT_TRUE(becomes(later([&] { return ears->has("gdrive://my-drive/New"); })));
}

TEST_F(gdrive_notices, are_asked_for_only_once_somebody_listens_and_are_ended_with_the_source) {
  manual_clock clock;
  auto how = usual();
  how.notification_url = "https://hondana.example";
  auto drive = serve(std::move(how));
  EXPECT_EQ(listed(*drive).size(), 2u);
  const auto polls = [&] {
    std::size_t count = 0;
    paper->alter([&count](auto& all) { count = all.polls; });
    return count;
  };
  EXPECT_TRUE(becomes([&] {
    clock.advance(std::chrono::milliseconds(20));
    return polls() > 2;
  }));
  EXPECT_EQ(paper->count_of("watch"), 0u) << "as with a check, or over stdio";
  drive->on_server_listening();
  EXPECT_TRUE(becomes([&] {
    clock.advance(std::chrono::milliseconds(20));
    return drive->health().detail.find("1 channels") != std::string::npos;
  }));
  drive.reset();
  paper->alter([](auto& all) {
    ASSERT_EQ(all.stopped.size(), 1u);
    EXPECT_EQ(all.stopped.front(), all.watches.front().id + " resource1");
  });
}

TEST_F(gdrive_notices, that_cannot_be_ended_are_left_to_end_by_themselves) {
  auto how = usual();
  how.notification_url = "https://hondana.example";
  auto drive = serve(std::move(how));
  drive->on_server_listening();
  EXPECT_EQ(listed(*drive).size(), 2u);
  EXPECT_TRUE(becomes([&] { return drive->health().detail.find("1 channels") != std::string::npos; }));
  paper->refuse("stop", refusal(drive::error_kind::unavailable));
  drive.reset();
  EXPECT_TRUE(was_said("and will expire"));
}

TEST_F(gdrive_notices, without_an_address_none_are_asked_for_or_taken) {
  const auto drive = serve();
  EXPECT_FALSE(drive->accepts_webhooks());
  EXPECT_EQ(listed(*drive).size(), 2u);
  EXPECT_EQ(paper->count_of("watch"), 0u);
}

TEST_F(gdrive_notices, where_drive_refuses_channels_polling_goes_on) {
  paper->refuse("watch", refusal(drive::error_kind::bad_request, errc::invalid_argument, "Drive does not take the address."));
  auto how = usual();
  how.notification_url = "https://hondana.example";
  const auto drive = serve(std::move(how));
  drive->on_server_listening();
  EXPECT_EQ(listed(*drive).size(), 2u);
  EXPECT_TRUE(becomes([&] { return was_said("Drive does not take the address."); }));
  EXPECT_FALSE(was_said("()")) << "there is nothing more to say";
  paper->change(paper_file("1b", "New"));
  EXPECT_TRUE(ears->await("gdrive://my-drive/New"));
  EXPECT_EQ(paper->count_of("watch"), 1u);
}

}  // namespace
}  // namespace hondana::gdrive
