/// What sources leave to the server to mask.
#include "server/catalog/secret_masking.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "unit/base/bytes/scripted_reader.hpp"
#include "unit/server/catalog/scripted_provider.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using catalog::read_answer;
using test::answer;
using test::by;
using test::scripted_provider;

/// A source that says who masks.
class saying_provider final : public scripted_provider {
 public:
  saying_provider(std::string name, std::vector<std::string> claims, hondana::secret_masking how)
      : scripted_provider(std::move(name), std::move(claims)) {
    masking = how;
  }
};

struct masked_source {
  explicit masked_source(hondana::secret_masking how)
      : source(std::make_shared<saying_provider>("memo", std::vector<std::string>{"memo:///"}, how)) {
    source->on_read = [this](const read_request&) -> result<read_result> {
      if (!pulls) return text_read_result(text);
      read_result found;
      resource_content one;
      one.data = std::make_shared<test::scripted_reader>(text, 1000);
      found.contents.push_back(std::move(one));
      return found;
    };
    source->on_list = [this](const list_request&) -> result<list_result> {
      resource entry;
      entry.uri = "memo:///a";
      entry.name = "a";
      entry.title = "About " + token;
      entry.description = "It is " + token;
      return list_result{{entry}, {}};
    };
    auto arranged =
        catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, {}, std::make_shared<executor::timers>());
    if (arranged) made = *arranged;
  }

  result<read_answer> read() const {
    const answer<read_answer> found;
    made->read(by(nullptr), "memo:///a", "memo:///a", {{}, true}, found.taker());
    return found.wait();
  }

  std::string token = "ghp_" + test::lots(5).alnum(36);
  std::string text = "The token is " + token + ".\n";
  bool pulls = false;
  std::shared_ptr<saying_provider> source;
  std::shared_ptr<const catalog::catalog> made;
};

TEST(the_catalog, masks_secrets_in_what_a_source_leaves_to_it) {
  const masked_source from(secret_masking::by_server);
  const auto found = from.read();
  ASSERT_TRUE(found);
  const auto& one = found->reading.contents.front();
  EXPECT_EQ(*std::get<shared_bytes>(one.data), "The token is ghp_" + std::string(36, '*') + ".\n");
  EXPECT_EQ(one.metadata, (metadata{{"dev.hondana/redacted", std::int64_t{1}}}));
  ASSERT_TRUE(found->entry);
  EXPECT_EQ(found->entry->title, "About ghp_" + std::string(36, '*'));
}

TEST(the_catalog, masks_secrets_in_what_is_pulled) {
  masked_source from(secret_masking::by_server);
  from.pulls = true;
  from.text = from.text + std::string(700'000, 'x') + "\n" + from.text;
  const auto found = from.read();
  ASSERT_TRUE(found);
  const auto& one = found->reading.contents.front();
  EXPECT_EQ(one.metadata, (metadata{{"dev.hondana/redacted", std::int64_t{2}}}));
  std::string all;
  std::string window(65'536, '\0');
  const auto& reader = std::get<bytes::verified_stream>(one.data).reader;
  for (auto count = reader->read(window); count && *count != 0; count = reader->read(window)) all += window.substr(0, *count);
  EXPECT_EQ(all.size(), from.text.size());
  EXPECT_EQ(all.find(from.token), std::string::npos);
}

TEST(the_catalog, masks_secrets_in_blobs) {
  masked_source from(secret_masking::by_server);
  from.text.push_back('\0');
  const auto found = from.read();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->reading.contents.front().is_text);
  EXPECT_EQ(std::get<shared_bytes>(found->reading.contents.front().data)->find(from.token), std::string::npos);
}

TEST(the_catalog, masks_secrets_in_lists_and_descriptions) {
  const masked_source from(secret_masking::by_server);
  const answer<model::resource_page> page;
  from.made->list(by(nullptr), {}, page.taker());
  const auto listed = page.wait();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->resources.size(), 1u);
  EXPECT_EQ(listed->resources.front().title, "About ghp_" + std::string(36, '*'));
  EXPECT_EQ(listed->resources.front().description, "It is ghp_" + std::string(36, '*'));
  const answer<resource> entry;
  from.made->describe(by(nullptr), "memo:///a", entry.taker());
  const auto described = entry.wait();
  ASSERT_TRUE(described);
  EXPECT_EQ(described->description, "It is ghp_" + std::string(36, '*'));
}

TEST(the_catalog, masks_secrets_in_templates_in_names_and_in_values_of_completion) {
  for (const auto how : {secret_masking::by_server, secret_masking::none}) {
    const std::string token = "ghp_" + test::lots(6).alnum(36);
    const auto shown = how == secret_masking::none ? token : "ghp_" + std::string(36, '*');
    const auto source = std::make_shared<saying_provider>("memo", std::vector<std::string>{"memo:///"}, how);
    resource_template offered;
    offered.uri_template = "memo:///{x}";
    offered.name = "with " + token;
    offered.title = "about " + token;
    offered.description = "for " + token;
    source->offered = {offered};
    source->on_complete = [&](const complete_request&) { return complete_result{{token}, {}, false}; };
    source->on_list = [&](const list_request&) -> result<list_result> {
      resource entry;
      entry.uri = "memo:///a";
      entry.name = "with " + token;
      return list_result{{entry}, {}};
    };
    const auto made =
        catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, {}, std::make_shared<executor::timers>());
    ASSERT_TRUE(made);
    const answer<model::template_page> templates;
    (*made)->templates(by(nullptr), {}, templates.taker());
    const auto listed = templates.wait();
    ASSERT_TRUE(listed && listed->templates.size() == 1);
    EXPECT_EQ(listed->templates[0].uri_template, "memo:///{x}");
    EXPECT_EQ(listed->templates[0].name, "with " + shown);
    EXPECT_EQ(listed->templates[0].title, "about " + shown);
    EXPECT_EQ(listed->templates[0].description, "for " + shown);
    const answer<complete_result> values;
    (*made)->complete(by(nullptr), {"memo:///{x}", "x", "", {}}, values.taker());
    const auto found = values.wait();
    ASSERT_TRUE(found && found->values.size() == 1);
    EXPECT_EQ(found->values[0], shown);
    const answer<model::resource_page> page;
    (*made)->list(by(nullptr), {}, page.taker());
    const auto entries = page.wait();
    ASSERT_TRUE(entries && entries->resources.size() == 1);
    EXPECT_EQ(entries->resources[0].name, "with " + shown);
  }
}

/// Has one skill, and says who masks.
class saying_skilled final : public scripted_provider, public skill_source {
 public:
  explicit saying_skilled(hondana::secret_masking how) : scripted_provider("skills", {"skill://"}) { masking = how; }
  skill one{"skill://a/SKILL.md", {}, {}};

  [[nodiscard]] result<skills_result> skills(const list_request&) override { return skills_result{{one}, {}}; }
  [[nodiscard]] result<skill> find_skill(const skill_request&) override { return one; }
};

TEST(the_catalog, masks_secrets_in_the_frontmatter_of_skills) {
  const auto token = "ghp_" + test::lots(8).alnum(36);
  for (const auto how : {secret_masking::by_server, secret_masking::none}) {
    const auto shown = how == secret_masking::none ? token : "ghp_" + std::string(36, '*');
    const auto source = std::make_shared<saying_skilled>(how);
    source->one.frontmatter = value::object{{"name", "a"}, {"metadata", value::object{{"with", token}}}};
    const value wanted(value::object{{"name", "a"}, {"metadata", value::object{{"with", shown}}}});
    const auto made =
        catalog::catalog::make({std::make_shared<catalog::source>(source, 100)}, {}, std::make_shared<executor::timers>());
    ASSERT_TRUE(made);
    const answer<model::skill_page> page;
    (*made)->skills(by(nullptr), {}, page.taker());
    const auto listed = page.wait();
    ASSERT_TRUE(listed && listed->skills.size() == 1);
    EXPECT_EQ(listed->skills[0].frontmatter, wanted);
    const answer<model::skill_answer> alone;
    (*made)->find_skill(by(nullptr), source->one.uri, source->one.uri, alone.taker());
    const auto found = alone.wait();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->skill.frontmatter, wanted);
  }
}

TEST(the_catalog, masks_secrets_in_what_sources_report) {
  for (const auto how : {secret_masking::by_server, secret_masking::none}) {
    masked_source from(how);
    from.source->on_read = [&](const read_request& request) -> result<read_result> {
      request.report_progress({1, 2, "opening " + from.token});
      return text_read_result("x");
    };
    std::string said;
    auto asks = by(nullptr);
    asks.report_progress = [&said](const progress& now) {
      if (now.message != "reading") said = now.message;
    };
    const answer<read_answer> found;
    from.made->read(asks, "memo:///a", "memo:///a", found.taker());
    ASSERT_TRUE(found.wait());
    EXPECT_EQ(said, "opening " + (how == secret_masking::none ? from.token : "ghp_" + std::string(36, '*')));
  }
}

TEST(the_catalog, masks_settings_by_the_last_segment_of_the_uri) {
  for (const auto& [uri, masks] :
       {std::pair{"memo:///a.toml?lines=1-2", true}, {"memo:///b/.env.bak", true}, {"memo:///a.txt", false}}) {
    read_result found;
    found.contents.push_back({.data = std::make_shared<const std::string>("DB_PASSWORD=aB3dE5fG7!\n")});
    catalog::mask_secrets(secret_masking::by_server, found, uri);
    EXPECT_EQ(*std::get<shared_bytes>(found.contents.front().data),
              masks ? "DB_PASSWORD=**********\n" : "DB_PASSWORD=aB3dE5fG7!\n")
        << uri;
  }
}

TEST(the_catalog, masks_secrets_in_japanese_of_whatever_width) {
  const auto token = "ghp_" + test::lots(7).alnum(36);
  for (const std::size_t bytes : {2u, 4u}) {
    const auto written = [bytes](std::string_view ascii) {
      std::string out;
      for (std::size_t i = 0; i < 300; ++i)
        out += std::string("\x2D\x4E\xC7\x65").substr(2 * (i % 2), 2) + std::string(bytes - 2, '\0');
      for (const char one : ascii) out += one + std::string(bytes - 1, '\0');
      return out;
    };
    for (const bool is_read : {false, true}) {
      resource_content one;
      if (is_read) {
        one.data = std::make_shared<test::scripted_reader>(written(token));
      } else {
        one.data = std::make_shared<const std::string>(written(token));
      }
      read_result found;
      found.contents.push_back(std::move(one));
      catalog::mask_secrets(secret_masking::by_server, found, "memo:///a");
      std::string got(written(token).size() + 1, '\0');
      if (is_read) {
        auto& from = *std::get<std::shared_ptr<byte_reader>>(found.contents.front().data);
        std::size_t size = 0;
        for (auto count = from.read(got); count && *count != 0; count = from.read(std::span(got).subspan(size))) size += *count;
        got.resize(size);
      } else {
        got = *std::get<shared_bytes>(found.contents.front().data);
      }
      EXPECT_EQ(got, written("ghp_" + std::string(36, '*'))) << bytes << is_read;
    }
  }
}

TEST(the_catalog, leaves_what_is_masked_already_or_wanted_as_it_is) {
  for (const auto how : {secret_masking::by_source, secret_masking::none}) {
    const masked_source from(how);
    const auto found = from.read();
    ASSERT_TRUE(found);
    EXPECT_EQ(*std::get<shared_bytes>(found->reading.contents.front().data), from.text);
    EXPECT_TRUE(found->reading.contents.front().metadata.empty());
    EXPECT_EQ(found->entry->title, "About " + from.token);
  }
}

TEST(the_catalog, shares_bytes_without_secrets_as_they_are) {
  auto text = std::make_shared<const std::string>("nothing here");
  read_result found;
  found.contents.push_back({.data = text});
  catalog::mask_secrets(secret_masking::by_server, found, "memo:///a");
  EXPECT_EQ(std::get<shared_bytes>(found.contents.front().data), text);
}

}  // namespace
