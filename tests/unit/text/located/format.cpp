/// Formats by name, and what no format reads.
#include <array>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "text/located/node.hpp"
#include "unit/text/located/told.hpp"

namespace {

using namespace hondana;
using located::config_format;
using located::detect_format;

constexpr std::array all_formats{config_format::toml,        config_format::yaml,         config_format::json,
                                 config_format::ini,         config_format::gitconfig,    config_format::editorconfig,
                                 config_format::desktop,     config_format::configparser, config_format::dotenv,
                                 config_format::compose_env, config_format::properties,   config_format::systemd};

TEST(formats, have_names) {
  for (const auto one : all_formats) EXPECT_EQ(located::parse_format(name_of(one)), one);
  EXPECT_EQ(located::parse_format("xml"), std::nullopt);
  EXPECT_EQ(located::parse_format(""), std::nullopt);
}

TEST(formats, are_known_by_the_last_name_of_a_path) {
  EXPECT_EQ(detect_format("etc/app.toml"), config_format::toml);
  EXPECT_EQ(detect_format("Cargo.lock"), config_format::toml);
  EXPECT_EQ(detect_format("deploy/Values.YAML"), config_format::yaml);
  EXPECT_EQ(detect_format("docker-compose.yml"), config_format::yaml);
  EXPECT_EQ(detect_format(".vscode/settings.json"), config_format::json);
  EXPECT_EQ(detect_format("tsconfig.jsonc"), config_format::json);
  EXPECT_EQ(detect_format("php.ini"), config_format::ini);
  EXPECT_EQ(detect_format("my.cnf"), config_format::ini);
  EXPECT_EQ(detect_format("repo/.git/config"), config_format::gitconfig);
  EXPECT_EQ(detect_format("etc/pip.conf"), config_format::configparser);
  EXPECT_EQ(detect_format(".env"), config_format::dotenv);
  EXPECT_EQ(detect_format("a/.env.production"), config_format::dotenv);
  EXPECT_EQ(detect_format("web.env"), config_format::dotenv);
  EXPECT_EQ(detect_format("log4j.properties"), config_format::properties);
  EXPECT_EQ(detect_format("nginx.service"), config_format::systemd);
  EXPECT_EQ(detect_format("etc/systemd/system/nginx.service.d/override.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("etc/systemd/journald.conf.d/a.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("resolved.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("etc/systemd/system.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("nginx.conf"), std::nullopt);
  EXPECT_EQ(detect_format("home/.gitconfig"), config_format::gitconfig);
  EXPECT_EQ(detect_format(".gitmodules"), config_format::gitconfig);
  EXPECT_EQ(detect_format("src/.editorconfig"), config_format::editorconfig);
  EXPECT_EQ(detect_format("app.desktop"), config_format::desktop);
  EXPECT_EQ(detect_format("setup.cfg"), config_format::configparser);
  EXPECT_EQ(detect_format("tox.ini"), config_format::configparser);
  EXPECT_EQ(detect_format("other.cfg"), config_format::ini);
  EXPECT_EQ(detect_format("web.pod"), config_format::systemd);
  EXPECT_EQ(detect_format("web.image"), config_format::systemd);
  EXPECT_EQ(detect_format("web.build"), config_format::systemd);
  EXPECT_EQ(detect_format("web.kube.d/10-more.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("system.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("system.conf.d/timeouts.conf"), config_format::systemd);
  EXPECT_EQ(detect_format("meson.build"), std::nullopt);
  EXPECT_EQ(detect_format("usr/share/dbus-1/system.conf"), std::nullopt);
  EXPECT_EQ(detect_format("conf.d/x.conf"), std::nullopt);
  EXPECT_EQ(detect_format("README.md"), std::nullopt);
  EXPECT_EQ(detect_format(".toml"), std::nullopt);
  EXPECT_EQ(detect_format(""), std::nullopt);
  EXPECT_EQ(detect_format("config"), std::nullopt);
}

TEST(formats, refuse_what_is_no_text) {
  using namespace std::string_literals;
  for (const auto one : all_formats) {
    EXPECT_EQ(test::told(one,
                         "\xFF\xFE"
                         "a\0=\0"s),
              "failed: line 1: the file is UTF-16, but only UTF-8 is supported; save it as UTF-8");
    EXPECT_EQ(test::told(one, "# x\n\n#\0\n"s), "failed: line 3: unexpected NUL byte; is the file UTF-16 or half-written?");
    if (one == config_format::properties) continue;
    EXPECT_EQ(test::told(one, "# x\n# \xE9\n# y\n"), "failed: line 2: bytes that are not UTF-8");
    EXPECT_EQ(test::told(one, "# x\n# \xE6\x9C"), "failed: line 2: bytes that are not UTF-8");
    EXPECT_EQ(test::told(one, "# x\n# \xE6\n\x9C"), "failed: line 2: bytes that are not UTF-8");
  }
}

TEST(formats, refuse_more_than_their_limits) {
  for (const auto one : all_formats) {
    EXPECT_EQ(located::read(one, std::string(11, ' '), {.max_bytes = 10}).error().code, errc::response_too_large);
  }
  const auto most = located::parse_limits{.max_values = 3};
  for (const auto one : {config_format::ini, config_format::dotenv, config_format::properties}) {
    const auto read = located::read(one, "a=1\nb=2\nc=3\nd=4\n", most);
    ASSERT_FALSE(read) << name_of(one);
    EXPECT_EQ(read.error().code, errc::response_too_large);
    EXPECT_TRUE(read.error().public_text.starts_with("line 4: more than 3 values")) << read.error().public_text;
  }
  EXPECT_EQ(located::read(config_format::systemd, "[a]\nb=1\nb=2\nb=3\n", most).error().code, errc::response_too_large);
  EXPECT_EQ(located::read(config_format::yaml, "[1, 2, 3]", most).error().code, errc::response_too_large);
  EXPECT_EQ(located::read(config_format::toml, "a=1\nb=1\nc=1\n", most).error().code, errc::response_too_large);
  EXPECT_TRUE(located::read(config_format::yaml, "[1, 2]", most));
}

TEST(formats, place_what_stands_behind_a_byte_order_mark) {
  for (const auto one : {config_format::ini, config_format::dotenv, config_format::properties, config_format::toml}) {
    const auto text = one == config_format::toml ? "\xEF\xBB\xBF"
                                                   "a = '1'"
                                                 : "\xEF\xBB\xBF"
                                                   "a = 1";
    const auto read = located::read(one, text);
    ASSERT_TRUE(read) << name_of(one);
    const auto& first = read->root.members.at(0);
    EXPECT_EQ(first.key_range, (located::source_range{3, 4, 1})) << name_of(one);
    EXPECT_EQ(first.value.range.begin, 7u);
    EXPECT_EQ(first.value.text, "1");
  }
}

TEST(formats, bound_their_remarks) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a=1\n";
  const auto read = located::read(config_format::dotenv, text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->warnings.size(), 100u);
  EXPECT_EQ(read->warnings.back(), "further remarks are left out");
}

TEST(trees_as_json, keep_digits_in_texts_and_are_values) {
  const auto read =
      located::read(config_format::json, R"({"big": 123456789012345678901234567890, "a": [1, 2.5, null, true, "x\n"]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(located::json_text(read->root), R"({"big":123456789012345678901234567890,"a":[1,2.5,null,true,"x\n"]})");
  const auto made = located::json_of(read->root);
  EXPECT_EQ(made.to_text(), R"({"big":1.2345678901234568e+29,"a":[1,2.5,null,true,"x\n"]})");
  EXPECT_EQ(read->root.find("a")->items.size(), 5u);
  EXPECT_EQ(read->root.find("b"), nullptr);
  EXPECT_EQ(read->root.find("a")->find("a"), nullptr);
}

}  // namespace
