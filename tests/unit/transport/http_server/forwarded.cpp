/// What proxies say of the client behind them.
#include "transport/http_server/forwarded.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

namespace http = hondana::transport::http_server;
using hops = std::vector<http::forwarded_hop>;
using namespace std::string_view_literals;

http::trusted_proxies trusting(const std::vector<std::string>& texts) {
  auto made = http::trusted_proxies::make(texts);
  if (!made) throw std::runtime_error(made.error().public_text);
  return std::move(*made);
}

http::request_origin from(const std::string& peer, std::vector<http::header_field> fields,
                          const std::vector<std::string>& proxies = {"10.0.0.0/8", "::1", "unix"}) {
  http::request_head head;
  head.fields = std::move(fields);
  return http::find_request_origin(head, peer, false, trusting(proxies));
}

TEST(forwarded, reads_the_examples_of_the_standard) {
  EXPECT_EQ(http::parse_forwarded("for=192.0.2.43"), (hops{{"192.0.2.43", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=\"_gazonk\""), (hops{{"_gazonk", {}}}));
  EXPECT_EQ(http::parse_forwarded("For=\"[2001:db8:cafe::17]:4711\""), (hops{{"2001:db8:cafe::17", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=192.0.2.60;proto=http;by=203.0.113.43"), (hops{{"192.0.2.60", false}}));
  EXPECT_EQ(http::parse_forwarded("for=192.0.2.43, for=198.51.100.17"), (hops{{"192.0.2.43", {}}, {"198.51.100.17", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=_hidden, for=_SEVKISEK"), (hops{{"_hidden", {}}, {"_SEVKISEK", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=192.0.2.43, for=\"[2001:db8:cafe::17]\", for=unknown"),
            (hops{{"192.0.2.43", {}}, {"2001:db8:cafe::17", {}}, {"unknown", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=192.0.2.43;proto=https,FOR=\"198.51.100.17:_port\" ; PROTO=HTTP;host=example.com"),
            (hops{{"192.0.2.43", true}, {"198.51.100.17", false}}));
  EXPECT_EQ(http::parse_forwarded("proto=https"), (hops{{"unknown", true}}));
  EXPECT_EQ(http::parse_forwarded("for=\"192.0.2.4\\3\""), (hops{{"192.0.2.43", {}}}));
  EXPECT_EQ(http::parse_forwarded("for=\"[2001:DB8:0:0::17]\""), (hops{{"2001:db8::17", {}}}));
}

class malformed_forwarded : public testing::TestWithParam<std::pair<const char*, std::string_view>> {};
TEST_P(malformed_forwarded, is_nothing) { EXPECT_EQ(http::parse_forwarded(GetParam().second), std::nullopt); }
const std::string too_many_hops = [] {
  std::string out = "for=192.0.2.1";
  for (std::size_t i = 0; i < http::max_hops; ++i) out += ",for=192.0.2.1";
  return out;
}();
const std::string too_many_parameters = [] {
  std::string out = "for=192.0.2.1";
  for (int i = 0; i < 16; ++i) out += ";p" + std::to_string(i) + "=1";
  return out;
}();
const std::string long_hidden_name = "for=_" + std::string(64, 'x');
INSTANTIATE_TEST_SUITE_P(
    , malformed_forwarded,
    testing::Values(std::pair("empty", ""sv), std::pair("only_blanks", "  "sv), std::pair("no_value", "for"sv),
                    std::pair("empty_value", "for="sv), std::pair("no_name", "=192.0.2.1"sv),
                    std::pair("address_without_quotes_and_with_port", "for=192.0.2.1:80"sv),
                    std::pair("ipv6_without_quotes", "for=2001:db8::1"sv), std::pair("ipv6_without_brackets", "for=\"::1\""sv),
                    std::pair("open_quotes", "for=\"192.0.2.1"sv), std::pair("escape_at_the_end", "for=\"192.0.2.1\\"sv),
                    std::pair("open_bracket", "for=\"[::1\""sv), std::pair("text_behind_bracket", "for=\"[::1]x\""sv),
                    std::pair("ipv4_in_brackets", "for=\"[192.0.2.1]\""sv), std::pair("octal", "for=0300.0.2.1"sv),
                    std::pair("short_ipv4", "for=127.1"sv), std::pair("host_name", "for=client.example"sv),
                    std::pair("port_too_long", "for=\"192.0.2.1:123456\""sv), std::pair("no_port", "for=\"192.0.2.1:\""sv),
                    std::pair("hidden_without_name", "for=_"sv), std::pair("hidden_with_space", "for=\"_a b\""sv),
                    std::pair("for_twice", "for=192.0.2.1;for=192.0.2.2"sv),
                    std::pair("for_twice_in_other_case", "for=192.0.2.1;FOR=192.0.2.2"sv),
                    std::pair("unknown_scheme", "for=192.0.2.1;proto=gopher"sv),
                    std::pair("empty_element", "for=192.0.2.1,,for=192.0.2.2"sv),
                    std::pair("comma_at_the_end", "for=192.0.2.1,"sv), std::pair("comma_first", ",for=192.0.2.1"sv),
                    std::pair("only_semicolons", ";;"sv), std::pair("no_separator", "for=192.0.2.1 proto=http"sv),
                    std::pair("nul", "for=\"192.0.2.1\0\""sv), std::pair("space_around_equals", "for = 192.0.2.1"sv),
                    std::pair("too_many_hops", std::string_view(too_many_hops)),
                    std::pair("too_many_parameters", std::string_view(too_many_parameters)),
                    std::pair("long_hidden_name", std::string_view(long_hidden_name))),
    [](const auto& one) { return std::string(one.param.first); });

TEST(forwarded_for, reads_what_proxies_write) {
  EXPECT_EQ(http::parse_forwarded_for("192.0.2.1"), (hops{{"192.0.2.1", {}}}));
  EXPECT_EQ(http::parse_forwarded_for(" 192.0.2.1 ,2001:db8::1,\t[2001:DB8::2]:80, 192.0.2.3:8080,unknown"),
            (hops{{"192.0.2.1", {}}, {"2001:db8::1", {}}, {"2001:db8::2", {}}, {"192.0.2.3", {}}, {"unknown", {}}}));
}

TEST(forwarded_for, that_is_malformed_is_nothing) {
  const std::string many = [] {
    std::string out = "192.0.2.1";
    for (std::size_t i = 0; i < http::max_hops; ++i) out += ",192.0.2.1";
    return out;
  }();
  for (const auto text :
       {""sv, " "sv, ","sv, "192.0.2.1,"sv, ",192.0.2.1"sv, "192.0.2.1,,192.0.2.2"sv, "localhost"sv, "192.0.2.1 x"sv,
        "192.0.2.256"sv, "\"192.0.2.1\""sv, "[::1"sv, "::1]:80"sv, "fe80::1%eth0"sv, "192.0.2.1\0"sv, std::string_view(many)}) {
    EXPECT_EQ(http::parse_forwarded_for(text), std::nullopt) << text;
  }
}

TEST(trusted_proxies, are_addresses_networks_and_unix) {
  const auto some = trusting({"10.0.0.0/8", "192.0.2.1", "2001:db8::/33", "::1", "unix"});
  for (const auto* const one :
       {"10.1.2.3", "10.255.255.255", "::ffff:10.0.0.1", "192.0.2.1", "2001:db8::1", "2001:db8:7fff::", "::1", "unix"}) {
    EXPECT_TRUE(some.trusts(one)) << one;
  }
  for (const auto* const one : {"11.0.0.1", "9.255.255.255", "192.0.2.2", "2001:db8:8000::", "::2", "127.0.0.1", "unknown",
                                "_hidden", "", "10.0.0.1x"}) {
    EXPECT_FALSE(some.trusts(one)) << one;
  }
  EXPECT_TRUE(trusting({"0.0.0.0/0"}).trusts("203.0.113.9"));
  EXPECT_FALSE(trusting({"0.0.0.0/0"}).trusts("2001:db8::1"));
  EXPECT_TRUE(trusting({"::/0"}).trusts("203.0.113.9"));
  EXPECT_FALSE(trusting({"10.0.0.1"}).trusts("unix"));
}

TEST(trusted_proxies, that_are_malformed_are_named) {
  for (const auto text : {""sv, "proxy.example"sv, "10.0.0.0/"sv, "10.0.0.0/33"sv, "10.0.0.0/-1"sv, "10.0.0.0/8x"sv, "::/129"sv,
                          "10.0.0/8"sv, "/8"sv, "UNIX"sv, "10.0.0.1\0"sv, "10.0.0.0/4294967304"sv}) {
    const auto made = http::trusted_proxies::make({"::1", std::string(text)});
    ASSERT_FALSE(made) << text;
    EXPECT_NE(made.error().public_text.find('"' + std::string(text) + '"'), std::string::npos) << made.error().public_text;
  }
}

TEST(origin_of_request, is_the_peer_when_that_is_no_trusted_proxy) {
  const auto got = from("192.0.2.1", {{"Forwarded", "for=203.0.113.9;proto=https"}, {"X-Forwarded-For", "203.0.113.9"}});
  EXPECT_EQ(got.address, "192.0.2.1");
  EXPECT_FALSE(got.is_secure);
  EXPECT_FALSE(got.is_behind_proxy);
}

TEST(origin_of_request, is_read_from_the_right_past_trusted_proxies) {
  const auto standard = from("10.0.0.1", {{"Forwarded", "for=203.0.113.66;proto=https, for=198.51.100.7;proto=https"},
                                          {"forwarded", "for=10.0.0.2;proto=http"}});
  EXPECT_EQ(standard.address, "198.51.100.7");
  EXPECT_TRUE(standard.is_secure);
  EXPECT_TRUE(standard.is_behind_proxy);
  const auto usual =
      from("::1", {{"X-Forwarded-For", "203.0.113.66, 198.51.100.7, 10.0.0.2"}, {"X-Forwarded-Proto", "http, https, http"}});
  EXPECT_EQ(usual.address, "198.51.100.7");
  EXPECT_TRUE(usual.is_secure);
  EXPECT_EQ(from("unix", {{"X-Forwarded-For", "198.51.100.7"}}).address, "198.51.100.7");
}

TEST(origin_of_request, is_the_leftmost_proxy_when_all_are_trusted) {
  EXPECT_EQ(from("10.0.0.1", {{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}}).address, "10.0.0.3");
}

TEST(origin_of_request, stops_at_a_client_that_is_hidden) {
  EXPECT_EQ(from("10.0.0.1", {{"Forwarded", "for=203.0.113.66, for=_hidden, for=10.0.0.2"}}).address, "_hidden");
}

TEST(origin_of_request, has_the_scheme_of_the_nearest_proxy_where_lists_differ) {
  const auto scheme = [](std::string_view text) {
    return from("10.0.0.1", {{"X-Forwarded-For", "198.51.100.7, 10.0.0.2"}, {"X-Forwarded-Proto", text}}).is_secure;
  };
  EXPECT_TRUE(scheme("https"));
  EXPECT_FALSE(scheme("http"));
  EXPECT_TRUE(scheme("https, http"));
  EXPECT_FALSE(scheme("https, https, http"));
  EXPECT_FALSE(scheme("on"));
  EXPECT_FALSE(scheme(""));
  EXPECT_TRUE(from("10.0.0.1", {{"X-Forwarded-Proto", "https"}}).is_secure);
  EXPECT_EQ(from("10.0.0.1", {{"X-Forwarded-Proto", "https"}}).address, "10.0.0.1");
}

TEST(origin_of_request, is_the_proxy_itself_where_its_word_is_malformed) {
  for (const std::string_view text : {"for=client.example;proto=https", "", "for=\"[::1\""}) {
    const auto got = from("10.0.0.1", {{"Forwarded", text}});
    EXPECT_EQ(got.address, "10.0.0.1") << text;
    EXPECT_FALSE(got.is_secure) << text;
    EXPECT_TRUE(got.is_behind_proxy);
  }
  EXPECT_EQ(from("10.0.0.1", {{"X-Forwarded-For", "client.example"}, {"X-Forwarded-Proto", "https"}}).address, "10.0.0.1");
}

// A proxy that writes one of the fields passes on the other as the client has sent it.
TEST(origin_of_request, is_the_proxy_itself_where_the_two_fields_disagree) {
  const auto forged = from("10.0.0.1", {{"Forwarded", "for=127.0.0.1;proto=https"}, {"X-Forwarded-For", "198.51.100.7"}});
  EXPECT_EQ(forged.address, "10.0.0.1");
  EXPECT_FALSE(forged.is_secure);
  EXPECT_EQ(from("10.0.0.1", {{"Forwarded", "for=198.51.100.7"}, {"X-Forwarded-For", "198.51.100.7"}}).address, "198.51.100.7");
  EXPECT_EQ(from("10.0.0.1", {{"Forwarded", "for=198.51.100.7"}, {"X-Forwarded-For", "nonsense"}}).address, "10.0.0.1");
}

}  // namespace
