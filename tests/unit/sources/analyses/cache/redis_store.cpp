/// The store in Redis: addresses, passwords, TLS, and servers that are started again, full, slow or none.
#include "sources/analyses/cache/redis/redis_store.hpp"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "os/disk/file_descriptor.hpp"
#include "sources/analyses/cache/redis/lua_scripts.hpp"
#include "sources/analyses/cache/redis/redis_address.hpp"
#include "sources/analyses/cache/redis/resp.hpp"
#include "unit/sources/analyses/cache/redis_server.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace hondana::analyses {
namespace {

analysis_summary put_into(analysis_store& into, const analysis& what) {
  const auto got = good(into.claim(wish_for(what)));
  EXPECT_TRUE(got.ticket);
  return got.ticket ? good(into.put(*got.ticket, putting_of(what))) : analysis_summary();
}

std::string why_not_opened(const redis_options& how) {
  const auto refused = open_redis(how);
  if (refused) return "opened";
  EXPECT_EQ(refused.error().public_text.find(redis_server::password), std::string::npos);
  EXPECT_EQ(refused.error().private_text.find(redis_server::password), std::string::npos);
  return refused.error().public_text;
}

TEST(redis_addresses, are_read) {
  auto got = good(parse_redis_url("redis://host.example"));
  EXPECT_EQ(got.host, "host.example");
  EXPECT_EQ(got.port, 6379);
  EXPECT_FALSE(got.uses_tls);
  EXPECT_EQ(got.display_name, "Redis at host.example:6379");
  got = good(parse_redis_url("rediss://a%40b@[::1]:7000/12"));
  EXPECT_TRUE(got.uses_tls);
  EXPECT_EQ(got.host, "::1");
  EXPECT_EQ(got.port, 7000);
  EXPECT_EQ(got.user, "a@b");
  EXPECT_EQ(got.database, 12);
  EXPECT_EQ(got.display_name, "Redis at [::1]:7000");
  got = good(parse_redis_url("unix:///run/redis/a%20b.sock?db=3"));
  EXPECT_EQ(got.socket_path, "/run/redis/a b.sock");
  EXPECT_EQ(got.database, 3);
  EXPECT_EQ(got.user, "");
  got = good(parse_redis_url("unix://a%40b@/run/redis@home.sock?db=3"));
  EXPECT_EQ(got.socket_path, "/run/redis@home.sock");
  EXPECT_EQ(got.user, "a@b");
  EXPECT_EQ(got.display_name, "Redis at /run/redis@home.sock");
}

TEST(redis_addresses, that_are_none_are_refused) {
  for (const auto* wrong : {"",
                            "http://h",
                            "redis://",
                            "redis://h:0",
                            "redis://h:70000",
                            "redis://h:x",
                            "redis://h/x",
                            "redis://h/-1",
                            "redis://h?db=1",
                            "unix://rel",
                            "unix:///a?x=1",
                            "redis://[::1",
                            "redis://h /0",
                            "redis://h%00",
                            "unix:///a%00b",
                            "redis://@h",
                            "unix://@/a",
                            "unix://user/a",
                            "unix://user@a",
                            "unix://a%20b@/a"})
    EXPECT_FALSE(parse_redis_url(wrong)) << wrong;
  for (const auto* wrong : {"redis://user:hunter2@h", "unix://user:hunter2@/a"}) {
    const auto refused = parse_redis_url(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().public_text.find("the Redis URL contains a password"), std::string::npos);
    EXPECT_EQ(refused.error().public_text.find("hunter2"), std::string::npos);
  }
  redis_options how;
  how.url = "redis://h";
  good(validate(how));
  how.prefix = "a{b";
  EXPECT_FALSE(validate(how));
  how.prefix = "a";
  how.certificate_file = "/x";
  EXPECT_FALSE(validate(how));
}

TEST(redis_password, stands_in_a_private_file_or_the_environment) {
  const hondana_test::pem_folder folder;
  const auto file = folder.write("password", "hunter2\n");
  EXPECT_EQ(good(read_redis_password(file, "")), "hunter2");
  EXPECT_EQ(good(read_redis_password("", "")), "");
  EXPECT_FALSE(read_redis_password(folder.write("empty", "\n"), ""));
  EXPECT_FALSE(read_redis_password(file, "BOTH"));
  EXPECT_FALSE(read_redis_password("", "HONDANA_TEST_NOT_SET"));
  ::setenv("HONDANA_TEST_PASSWORD", "word", 1);
  EXPECT_EQ(good(read_redis_password("", "HONDANA_TEST_PASSWORD")), "word");
  ASSERT_EQ(std::system(("chmod 644 " + file).c_str()), 0);
  EXPECT_FALSE(read_redis_password(file, ""));
}

result<redis_reply> read_reply(std::string_view bytes) {
  reply_parser by;
  by.feed(bytes);
  auto got = by.next();
  if (!got) return tl::unexpected(got.error());
  if (!*got) return fail(errc::internal, "more");
  return **got;
}

TEST(redis_replies, are_read_in_pieces_of_any_size) {
  const std::string all =
      "+OK\r\n-ERR no\r\n:-42\r\n$5\r\na\r\nbc\r\n$-1\r\n*-1\r\n*0\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n+x\r\n$-1\r\n$1\r\nz\r\n";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, all.size()}) {
    reply_parser by;
    std::vector<redis_reply> got;
    for (std::size_t at = 0; at < all.size(); at += piece) {
      by.feed(std::string_view(all).substr(at, piece));
      for (;;) {
        const auto one = by.next();
        ASSERT_TRUE(one);
        if (!*one) break;
        got.push_back(**one);
      }
    }
    ASSERT_EQ(got.size(), 9u);
    EXPECT_EQ(got[0].text, "OK");
    EXPECT_TRUE(got[1].is_error());
    EXPECT_EQ(got[2].integer, -42);
    EXPECT_EQ(got[3].text, "a\r\nbc");
    EXPECT_TRUE(got[4].is_null());
    EXPECT_TRUE(got[5].is_null());
    EXPECT_EQ(got[6].type, redis_reply::kind::array);
    EXPECT_EQ(got[7].at(1).at(1).text, "x");
    EXPECT_TRUE(got[7].at(2).is_null());
    EXPECT_TRUE(got[7].at(9).is_null());
    EXPECT_EQ(got[8].text, "z");
  }
}

TEST(redis_replies, that_are_none_are_refused) {
  for (const std::string wrong :
       {"HTTP/1.1 400\r\n", "\r\n", ":x\r\n", "$-2\r\n", "$99999999999\r\n", "*2000000\r\n", "$1\r\nab\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", ":99999999999999999999\r\n"}) {
    const auto got = read_reply(wrong);
    ASSERT_FALSE(got) << wrong;
    EXPECT_EQ(got.error().code, errc::protocol_error) << wrong;
  }
  EXPECT_EQ(read_reply("+" + std::string(70'000, 'a')).error().code, errc::protocol_error);
  EXPECT_EQ(read_reply("$5\r\nab").error().code, errc::internal);
}

TEST(analyses_in_redis, want_the_right_password_and_never_say_it) {
  redis_server server;
  auto how = server.options();
  how.password = "wrong";
  EXPECT_NE(why_not_opened(how).find("it rejected the user or the password"), std::string::npos);
  how.password.clear();
  EXPECT_NE(why_not_opened(how).find("it requires a password"), std::string::npos);
  how = server.options();
  how.url = "unix://nobody@" + server.folder();
  EXPECT_NE(why_not_opened(how), "opened");
  server.ask({"ACL", "SETUSER", "reader", "on", ">words", "~{mine}:*", "+@all", "-config"});
  how = server.tcp_options("mine");
  how.url = "redis://reader@127.0.0.1:" + std::to_string(server.port());
  how.password = "words";
  std::string said;
  how.log = [&](std::string_view line) { said += line; };
  const auto kept = good(open_redis(how));
  ASSERT_NE(kept, nullptr);
  put_into(*kept, small_analysis("x"));
  EXPECT_NE(said.find("cannot check whether"), std::string::npos) << said;
  how.prefix = "other";
  EXPECT_NE(why_not_opened(how).find("this user lacks rights"), std::string::npos);
}

TEST(analyses_in_redis, are_of_the_user_that_the_url_names_over_a_socket_as_well) {
  redis_server server;
  server.ask({"ACL", "SETUSER", "writer", "on", ">words", "~{mine}:*", "+@all"});
  server.ask({"ACL", "SETUSER", "anybody", "on", "nopass", "~{open}:*", "+@all"});
  auto how = server.options("mine");
  how.url = "unix://writer@" + server.folder() + "/socket";
  how.password = "words";
  const auto kept = good(open_redis(how));
  ASSERT_NE(kept, nullptr);
  put_into(*kept, small_analysis("x"));
  how.prefix = "other";
  EXPECT_NE(why_not_opened(how).find("this user lacks rights"), std::string::npos);
  how.prefix = "mine";
  how.password = "other words";
  EXPECT_NE(why_not_opened(how).find("it rejected the user or the password"), std::string::npos);
  how.password.clear();
  EXPECT_NE(why_not_opened(how).find("it rejected the user or the password"), std::string::npos) << "not as another user";
  how = server.options("open");
  how.url = "unix://anybody@" + server.folder() + "/socket";
  how.password.clear();
  EXPECT_EQ(why_not_opened(how), "opened");
  how.prefix = "mine";
  EXPECT_NE(why_not_opened(how).find("this user lacks rights"), std::string::npos);
}

TEST(analyses_in_redis, over_tls_want_a_certificate_that_is_vouched_for) {
  redis_server server({}, true);
  auto how = server.tcp_options();
  ASSERT_NE(good(open_redis(how)), nullptr);
  how.ca_file.clear();
  EXPECT_NE(why_not_opened(how).find("is not trusted"), std::string::npos);
  how = server.tcp_options();
  how.url = "redis://127.0.0.1:" + std::to_string(server.port());
  EXPECT_NE(why_not_opened(how), "opened");
  how = server.tcp_options();
  how.ca_file = server.folder() + "/none.pem";
  EXPECT_NE(why_not_opened(how).find("none.pem"), std::string::npos);
}

TEST(analyses_in_redis, say_what_is_wrong_with_a_server_that_keeps_nothing) {
  redis_server server({"--appendonly", "no", "--maxmemory-policy", "allkeys-lru"});
  auto how = server.options();
  std::string said;
  how.log = [&](std::string_view line) { said += std::string(line) + '\n'; };
  ASSERT_NE(good(open_redis(how)), nullptr);
  EXPECT_NE(said.find("has no append-only file"), std::string::npos);
  EXPECT_NE(said.find("evicts keys by itself"), std::string::npos);
}

TEST(analyses_in_redis, are_there_after_the_server_was_killed_and_started_again) {
  redis_server server;
  const auto kept = good(open_redis(server.options()));
  const auto what = whole_analysis();
  const auto by = good(kept->claim(wish_for(what, std::chrono::minutes(5)))).ticket;
  const auto done = put_into(*kept, small_analysis("done"));
  ASSERT_TRUE(by);
  server.kill();
  const auto gone = kept->look_up(make_key(what.question));
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, errc::source_unavailable);
  EXPECT_NE(gone.error().public_text.find("check that it runs"), std::string::npos) << gone.error().public_text;
  server.start();
  // Its scripts are gone with it; what was claimed is not.
  EXPECT_EQ(good(kept->look_up(make_key(small_analysis("done").question))).entry->summary, done);
  good(kept->put(*by, putting_of(what)));
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).entry->body, encode_body(what));
  EXPECT_GT(good(kept->claim(wish_for(small_analysis("next")))).ticket->token, by->token);
  server.ask({"SCRIPT", "FLUSH"});
  put_into(*kept, small_analysis("after"));
}

TEST(analyses_in_redis, claimed_before_tickets_had_secrets_are_put_by_nobody) {
  redis_server server;
  const auto kept = good(open_redis(server.options()));
  const auto what = small_analysis("x");
  const auto by = good(kept->claim(wish_for(what, std::chrono::minutes(5)))).ticket;
  ASSERT_TRUE(by);
  ASSERT_EQ(server.ask({"EVAL", "return redis.call('HDEL', redis.call('KEYS', '*:l:*')[1], 'secret')", "0"}), "1");
  for (const auto& secret : {by->secret, std::string()}) {
    const claim_ticket before{by->id, by->token, secret};
    EXPECT_FALSE(kept->put(before, putting_of(what)));
    EXPECT_FALSE(kept->renew(before, std::chrono::minutes(1)));
    EXPECT_FALSE(kept->fail(before, "no", milliseconds(0)));
  }
  EXPECT_EQ(good(kept->look_up(make_key(what.question))).status, cached_answer::cache_status::computing);
}

TEST(analyses_in_redis, in_a_server_without_memory_are_refused_and_what_is_there_stays) {
  redis_server server({"--maxmemory", "6mb", "--maxmemory-policy", "noeviction"});
  const auto kept = good(open_redis(server.options()));
  std::vector<analysis> there;
  result<analysis_summary> last{};
  std::optional<claim_ticket> open_claim;
  for (int i = 0; i < 100; ++i) {
    const auto what = small_analysis("p" + std::to_string(i), std::string(200'000, 'x'));
    const auto got = kept->claim(wish_for(what));
    if (!got) {
      last = tl::unexpected(got.error());
      break;
    }
    open_claim = got->ticket;
    last = kept->put(*got->ticket, putting_of(what));
    if (!last) break;
    open_claim.reset();
    there.push_back(what);
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, errc::source_unavailable);
  EXPECT_NE(last.error().public_text.find("out of memory (maxmemory), so nothing was written"), std::string::npos);
  ASSERT_GT(there.size(), 5u);
  for (const auto& one : there) EXPECT_EQ(good(kept->look_up(make_key(one.question))).entry->body, encode_body(one));
  if (open_claim) {
    EXPECT_EQ(good(kept->get(open_claim->id))->summary.status, analysis_status::computing) << "nothing of it is half there";
    good(kept->fail(*open_claim, "no memory", std::chrono::seconds(10)));
  }
  // Who comes now reads and forgets as well, whether anything was there before or not.
  server.ask({"CONFIG", "SET", "maxmemory", "1mb"});  // less than there is
  const auto late = good(open_redis(server.options()));
  ASSERT_NE(late, nullptr);
  EXPECT_EQ(good(late->look_up(make_key(there.front().question))).entry->body, encode_body(there.front()));
  EXPECT_FALSE(good(late->list({}, {}, 10)).summaries.empty());
  const auto refused = late->claim(wish_for(small_analysis("late")));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("hondana analysis rm"), std::string::npos) << refused.error().public_text;
  EXPECT_EQ(why_not_opened(server.options("elsewhere")), "opened");
  EXPECT_EQ(good(late->erase({.key = make_key(there.front().question).digest})).count, 1u);
  server.ask({"CONFIG", "SET", "maxmemory", "6mb"});
  // What takes away is not refused, and then there is room again.
  store_limits few;
  few.max_entries = 3;
  while (!good(kept->sweep(few)).is_last) {
  }
  EXPECT_EQ(good(kept->read_info()).entries, 3u);
  put_into(*kept, small_analysis("again"));
}

TEST(analyses_in_redis, of_a_server_that_does_not_answer_are_an_error_in_time) {
  manual_clock clock;
  redis_server server;
  auto how = server.options();
  // What is written waits for the disk.
  put_into(*good(open_redis(how)), small_analysis("x"));
  how.timeout = std::chrono::seconds(2);
  const auto kept = good(open_redis(how));
  server.pause();
  auto asked = std::async(std::launch::async, [&] { return kept->look_up(make_key(small_analysis("x").question)); });
  const auto is_over = [&] {
    clock.advance(how.timeout);
    return asked.wait_for(milliseconds(0)) == std::future_status::ready;
  };
  EXPECT_TRUE(hondana_test::eventually(is_over));
  const auto slow = asked.get();
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, errc::timed_out);
  server.go_on();
  EXPECT_TRUE(good(good(open_redis(how))->look_up(make_key(small_analysis("x").question))).entry);
}

TEST(analyses_in_redis, are_not_looked_for_in_what_is_no_redis) {
  disk::handle listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::jthread other([&] {
    const disk::handle peer(::accept(listener.get(), nullptr, nullptr));
    const std::string said = "HTTP/1.1 400 Bad Request\r\n\r\n";
    EXPECT_EQ(::write(peer.get(), said.data(), said.size()), static_cast<ssize_t>(said.size()));
    char one = 0;
    while (::read(peer.get(), &one, 1) > 0) {
    }
  });
  redis_options how;
  how.url = "redis://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  how.timeout = hondana_test::event_deadline;
  EXPECT_NE(why_not_opened(how).find("does not answer like Redis"), std::string::npos);
}

TEST(analyses_in_redis, of_a_newer_form_are_left_alone) {
  redis_server server;
  server.ask({"SET", "{test}:analyses:form", "2"});
  EXPECT_NE(why_not_opened(server.options()).find("were written by a newer version"), std::string::npos);
  const auto elsewhere = good(open_redis(server.options("elsewhere")));
  ASSERT_NE(elsewhere, nullptr);
  put_into(*elsewhere, small_analysis("x"));
  EXPECT_EQ(server.ask({"GET", "{elsewhere}:analyses:form"}), key_format) << "for newer versions to see";
  server.ask({"SET", "{elsewhere}:analyses:form", "2"});
  const auto refused = elsewhere->claim(wish_for(small_analysis("y")));
  ASSERT_FALSE(refused) << "a newer version has begun to write beside this one";
  EXPECT_NE((refused.error().public_text + refused.error().private_text).find("newer version"), std::string::npos)
      << refused.error().public_text << " | " << refused.error().private_text;
}

TEST(analyses_in_redis, do_not_tell_on_what_a_server_says_of_a_password) {
  redis_server renamed({"--requirepass", "", "--rename-command", "AUTH", ""});
  auto how = renamed.options();
  how.password = "hunter2";
  const auto refused = open_redis(how);
  ASSERT_FALSE(refused);
  EXPECT_EQ((refused.error().public_text + refused.error().private_text).find("hunter2"), std::string::npos);
  EXPECT_NE(refused.error().public_text.find("does not know a required command"), std::string::npos)
      << refused.error().public_text;
  EXPECT_EQ(refused.error().private_text, "AUTH failed with ERR");
}

}  // namespace
}  // namespace hondana::analyses
