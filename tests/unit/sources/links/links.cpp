/// Links are listed and never fetched.
#include "sources/links/links_provider.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace hondana;
using links::links_provider;
using links::make_link;

resource link(std::string uri, std::string name = {}) {
  resource made;
  made.uri = std::move(uri);
  made.name = std::move(name);
  return made;
}

links_provider two_links() {
  return links_provider({*make_link(link("https://example.com/b", "B")), *make_link(link("https://example.com/a"))});
}

TEST(make_link, refuses_hosts_that_are_not_in_ascii_and_says_how_to_write_them) {
  for (const char* uri : {"https://\xE4\xBE\x8B\xE3\x81\x88.jp/x", "https://%E4%BE%8B.jp/"}) {
    const auto made = make_link(link(uri));
    ASSERT_FALSE(made.has_value()) << uri;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_NE(made.error().public_text.find("punycode"), std::string::npos) << made.error().public_text;
  }
  EXPECT_TRUE(make_link(link("https://xn--r8jz45g.jp/\xE3\x83\x91")).has_value());
}

TEST(make_link, gives_a_canonical_uri_a_name_and_a_kind) {
  const auto made = make_link(link("HTTPS://example.com/%7euser"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->uri, "https://example.com/~user");
  EXPECT_EQ(made->name, "https://example.com/~user");
  EXPECT_EQ(made->kind, "link");
  EXPECT_EQ(make_link(link("https://example.com/", "Example"))->name, "Example");
}

TEST(make_link, refuses_what_a_client_could_not_fetch_over_https) {
  for (const auto* uri : {"", "example.com", "http://example.com/", "file:///etc/passwd", "https:///path", "https:path"}) {
    const auto made = make_link(link(uri));
    ASSERT_FALSE(made) << uri;
    EXPECT_EQ(made.error().code, errc::invalid_argument);
  }
}

TEST(make_link, brings_the_host_into_its_usual_form) {
  EXPECT_EQ(make_link(link("https://EXAMPLE.com:443/Path"))->uri, "https://example.com/Path");
  EXPECT_EQ(make_link(link("https://Example.COM:/"))->uri, "https://example.com/");
  EXPECT_EQ(make_link(link("https://example.com:8443/"))->uri, "https://example.com:8443/");
  EXPECT_EQ(make_link(link("https://[2001:DB8::443]/"))->uri, "https://[2001:db8::443]/");
  EXPECT_EQ(make_link(link("https://[2001:db8::1]:443/a"))->uri, "https://[2001:db8::1]/a");
  EXPECT_FALSE(make_link(link("https://:443/")));
}

// attacks: secrets (passwords inside connection URLs)
TEST(make_link, refuses_user_information_without_repeating_it) {
  for (const auto* uri : {"https://user:hunter2@example.com/", "https://hunter2@example.com/", "https://u:hunter2@/",
                          "http://u:hunter2@example.com/", "https://u:hunter2@exa mple.com/", "u:hunter2@example.com"}) {
    const auto made = make_link(link(uri));
    ASSERT_FALSE(made) << uri;
    EXPECT_EQ(made.error().code, errc::invalid_argument) << uri;
    EXPECT_NE(made.error().public_text.find("link.uri"), std::string::npos) << uri;
    EXPECT_EQ(made.error().public_text.find("hunter2"), std::string::npos) << uri;
  }
}

TEST(links, appear_in_the_list_in_order) {
  auto provider = two_links();
  const auto page = provider.list({});
  ASSERT_TRUE(page);
  ASSERT_EQ(page->entries.size(), 2);
  EXPECT_EQ(page->entries[0].uri, "https://example.com/a");
  EXPECT_EQ(page->entries[1].name, "B");
}

TEST(links, are_each_a_claim_and_never_block) {
  const auto provider = two_links();
  EXPECT_EQ(provider.claims(), (std::vector<std::string>{"https://example.com/a", "https://example.com/b"}));
  EXPECT_TRUE(provider.traits().never_blocks);
  EXPECT_EQ(provider.documentation().scheme, "https");
}

TEST(links, when_read_tell_the_client_to_fetch_them_itself) {
  auto provider = two_links();
  read_request request;
  request.uri = "https://example.com/a";
  request.requested_uri = "HTTPS://example.com/a";
  const auto found = provider.read(request);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::fetch_directly);
  EXPECT_EQ(found.error().public_text,
            "This server does not fetch web pages. Fetch HTTPS://example.com/a directly over HTTPS.");
}

TEST(links, do_not_answer_for_what_lies_below_them) {
  auto provider = two_links();
  read_request request;
  request.uri = "https://example.com/a/more";
  request.requested_uri = request.uri;
  EXPECT_EQ(provider.read(request).error().code, errc::resource_not_found);
}

TEST(links, are_described_without_being_fetched) {
  auto provider = two_links();
  describe_request request;
  request.uri = "https://example.com/a";
  EXPECT_EQ(provider.describe(request)->kind, "link");
  request.uri = "https://example.com/nothing";
  EXPECT_EQ(provider.describe(request).error().code, errc::resource_not_found);
}

}  // namespace
