/// Values that are masked, and those that are not.
#include "sources/env/masked_value.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json/utf8.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;

bool is_drawn_whole(const std::string& value) {
  std::vector<secrets::span> found;
  find_random(value, false, found);
  secrets::merge_spans(found);
  return found == std::vector<secrets::span>{{0, value.size()}};
}

/// Whether eight bytes in a row of a secret are in a text.
bool leaks(std::string_view text, std::string_view secret) {
  constexpr std::size_t width = 8;
  if (secret.size() <= width) return text.find(secret) != std::string_view::npos;
  for (std::size_t at = 0; at + width <= secret.size(); ++at) {
    const auto part = secret.substr(at, width);
    // What stands between the lines of some is no secret.
    const auto count =
        std::count_if(part.begin(), part.end(), [](char c) { return secrets::is_in(secrets::byte_set::alnum, c); });
    if (count >= 6 && text.find(part) != std::string_view::npos) return true;
  }
  return false;
}

TEST(masked_values, of_telling_names_say_neither_what_nor_how_long) {
  test::lots from(1);
  for (const auto* name : {"DB_PASSWORD", "TOKEN", "KEY", "apiKey"}) {
    for (const auto& value : {std::string("x"), std::string("true"), std::string("changeme"),
                              std::string("two words\nand a line"), from.password(40), std::string("\xFF\x01")}) {
      const auto masked = mask_value(name, value);
      EXPECT_EQ(masked.text, "********") << name;
      EXPECT_EQ(masked.count, 1U);
    }
    EXPECT_EQ(mask_value(name, "").text, "");
    EXPECT_EQ(mask_value(name, "").count, 0U);
  }
}

TEST(masked_values, have_no_secret_of_the_corpus) {
  test::lots from(2);
  for (int round = 0; round < 6; ++round) {
    for (const auto& shape : test::secret_shapes()) {
      const auto one = shape.draw(from);
      const auto masked = mask_value("APP_VALUE", one.text());
      EXPECT_FALSE(leaks(masked.text, one.secret)) << shape.name << ": " << masked.text;
      EXPECT_GE(masked.count, 1U) << shape.name;
    }
  }
}

TEST(masked_values, of_urls_keep_what_is_no_password) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"postgres://app:postgres@db.example:5432/app", "postgres://app:********@db.example:5432/app"},
      {"redis://:pw@cache/0", "redis://:**@cache/0"},
      {"amqp://u:p1@h1,amqp://u:p2@h2", "amqp://u:**@h1,amqp://u:**@h2"},
      {"https://h/cb?token=abc&x=1&sig=de", "https://h/cb?token=***&x=1&sig=**"},
      {"amqp://u:a/b@mq/v", "amqp://u:***@mq/v"},
      {"http://proxy:3128/", "http://proxy:3128/"},
      {"mongodb://h1:27017,h2:27017/db", "mongodb://h1:27017,h2:27017/db"},
      {"http://[::1]:80/@a", "http://[::1]:80/@a"},
      {"ssh://git@github.com/a/b.git", "ssh://git@github.com/a/b.git"},
      // A file cuts values at a #.
      {"postgres://u:pa", "postgres://u:**"},
  };
  for (const auto& [value, shown] : all) {
    EXPECT_EQ(mask_value("APP_URL", value).text, shown);
  }
}

TEST(masked_values, have_no_inner_settings_that_are_secret) {
  const std::vector<std::pair<std::string, std::string>> all{
      {"Server=db;Password=sun;Encrypt=true", "Server=db;Password=***;Encrypt=true"},
      {"host=db password=moon user=me", "host=db password=**** user=me"},
      {R"({"user":"me","password":"sun"})", R"({"user":"me","password":"***"})"},
      {"-Xmx1g -Djavax.net.ssl.trustStorePassword=changeit -ea", "-Xmx1g -Djavax.net.ssl.trustStorePassword=******** -ea"},
      {"--user me --password sun -v", "--user me --password *** -v"},
  };
  for (const auto& [value, shown] : all) EXPECT_EQ(mask_value("APP_OPTIONS", value).text, shown);
}

/// How many of 3000 drawn values are shown as they are.
template <class Draw>
int count_shown(Draw draw) {
  int shown = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string value = draw();
    if (mask_value("APP_VALUE", value).text != std::string(value.size(), '*')) ++shown;
  }
  return shown;
}

TEST(masked_values, that_were_drawn_are_found_under_any_name) {
  test::lots from(3);
  for (const std::size_t size : {20U, 24U, 32U, 40U, 64U}) {
    // Digits alone are a number.
    EXPECT_LE(count_shown([&] { return from.hex(size); }), size == 20 ? 3 : 0) << size;
    // Letters alone may be drawn so that they look like the words of a name, and base64 so that it looks like a path.
    const int few = size < 32 ? 30 : 3;
    EXPECT_LE(count_shown([&] { return from.alnum(size); }), few) << size;
    EXPECT_LE(count_shown([&] { return from.word(size); }), few) << size;
    EXPECT_LE(count_shown([&] { return from.base64(size); }), 2 * few) << size;
  }
  EXPECT_TRUE(is_drawn_whole(from.alnum(31) + "1+=="));
}

TEST(masked_values, are_not_what_names_paths_and_versions_are) {
  test::lots from(4);
  const auto uuid = from.hex(8) + "-" + from.hex(4) + "-4" + from.hex(3) + "-a" + from.hex(3) + "-" + from.hex(12);
  const std::vector<std::pair<std::string, std::string>> all{
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/home/me/.cargo/bin:/opt/node-v22.3.0-linux-x64/bin"},
      {"LD_LIBRARY_PATH", "/usr/lib/x86_64-linux-gnu/libfoo2:/opt/cuda-12.4/targets/x86_64-linux/lib64"},
      {"NIX_PATHS", "/nix/store/" + from.of("0123456789abcdfghijklmnpqrsvwxyz", 32) + "-hello-2.12.1/bin"},
      {"XDG_DATA_DIRS", "/home/me/.local/share/flatpak/exports/share:/var/lib/flatpak/exports/share:/usr/share/"},
      {"LS_COLORS",
       "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:do=01;35:bd=40;33;01:cd=40;33;01:or=40;31;01:*.tar=01;31:"
       "*.tgz=01;31:*.svgz=01;35:*.key=00;36:*.mjpeg=01;35"},
      {"REQUEST", uuid},
      {"GIT_COMMIT", from.hex(40)},
      {"IMAGE", "registry.example/app@sha256:" + from.hex(64)},
      {"APP_VERSION", "2.0.1-SNAPSHOT+build.20260728T120000Z-linux-x86_64"},
      {"KERNEL", "Linux version 6.1.0-18-cloud-amd64 (debian-kernel@lists.debian.org)"},
      {"HOSTNAME", "billing-service-7d9f8b6c5d-x2x4z"},
      {"INSTANCE", "ip-10-0-0-12.eu-central-1.compute.internal"},
      {"LANG", "de_DE.UTF-8"},
      {"GREETING", "a sentence of several words, which nobody has drawn"},
      {"JAVA_CLASS", "com.example.billing.InternalAccountingServiceConfigurationFactory"},
      {"TIMES", "2026-07-28T12:00:00.123Z 20260728120000123456789"},
      {"DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"},
      {"PS1", R"(\[\e[32m\]\u@\h\[\e[0m\]:\w\$ )"},
      {"EMPTY", ""},
      {"NO_PROXY", "localhost,127.0.0.1,10.0.0.0/8,.cluster.local"},
      {"SSH_AUTH_SOCK", "/tmp/ssh-XXXXXXabcdef/agent.1234"},
      {"PWD", "/home/me/src/provider"},
  };
  for (const auto& [name, value] : all) {
    const auto masked = mask_value(name, value);
    EXPECT_EQ(masked.text, value) << name;
    EXPECT_EQ(masked.count, 0U) << name;
  }
}

TEST(masked_values, that_are_digests_show_only_where_something_says_so) {
  test::lots from(5);
  const auto digest = from.hex(40);
  EXPECT_EQ(mask_value("GIT_SHA", digest).text, digest);
  EXPECT_EQ(mask_value("APP_VALUE", digest).text, std::string(40, '*'));
  EXPECT_EQ(mask_value("PASSWORD_HASH", digest).text, "********");
  EXPECT_EQ(mask_value("GIT_SHA", digest + "0").text, std::string(41, '*'));
}

TEST(masked_values, keep_line_ends_and_stay_utf8) {
  test::lots from(6);
  const auto masked = mask_value("APP_NOTE", "本\n" + from.alnum(30) + "\r\n棚");
  EXPECT_EQ(masked.text, "本\n" + std::string(30, '*') + "\r\n棚");
  for (int i = 0; i < 500; ++i) {
    std::string value;
    for (int j = 0; j < 40; ++j) value += from.below(3) == 0 ? std::string("é") : "token=" + from.alnum(from.below(9)) + ";";
    EXPECT_TRUE(json::is_utf8(mask_value("APP_NOTE", value).text));
  }
}

TEST(masked_values_timing, take_time_in_line_with_their_length) {
  const auto seconds_for = [](const std::string& value) {
    const auto begin = std::clock();
    EXPECT_EQ(mask_value("APP_VALUE", value).text.size(), value.size()) << value.substr(0, 20);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  for (const auto* part : {"a://", "a:b@", "password=", "a=:", "\"'\\", "x/", "Ab1", "--a ", "token ", "{\"secret\":\""}) {
    std::string small;
    while (small.size() < 10'000) small += part;
    std::string large;
    while (large.size() < 160'000) large += part;
    // Sixteen times as long; 256 times the time if the length counted twice.
    EXPECT_LT(seconds_for(large), 64 * std::max(seconds_for(small), 0.004)) << part;
  }
}

}  // namespace
