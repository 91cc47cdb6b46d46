/// Asks a provider as the catalog does.
#include "unit/sources/git/served_repository.hpp"

#include <gtest/gtest.h>

#include <hondana/uri.hpp>

#include "deadline.hpp"
#include "sources/git/repository_location.hpp"

namespace hondana::git {

void let_settle(const made_repository& made) {
  auto found = screen_repository(made.path(), {made.path()});
  ASSERT_TRUE(hondana_test::eventually([&] {
    found = screen_repository(made.path(), {made.path()});
    return !found || !found->stamp.empty();
  })) << made.path()
      << " changes all the time";
  ASSERT_TRUE(found) << found.error().public_text;
}

served_repository::served_repository(const made_repository& of, bool redact)
    : served_repository(git_options{.repositories = {of.path()}, .redact = redact}) {}

served_repository::served_repository(git_options from) {
  auto opened = git_provider::open(std::move(from));
  EXPECT_TRUE(opened) << opened.error().public_text << " " << opened.error().private_text;
  provider_ = std::move(*opened);
}

result<read_result> served_repository::try_read(const std::string& uri,
                                                const std::shared_ptr<const access_filter>& through) const {
  EXPECT_EQ(canonical_uri(uri).value_or("none"), uri);
  read_request request;
  request.uri = request.requested_uri = uri;
  request.caller.access_filter = through;
  return provider_->read(request);
}

read_result served_repository::read(const std::string& uri) const {
  auto made = try_read(uri);
  EXPECT_TRUE(made) << uri << ": " << made.error().public_text << " / " << made.error().private_text;
  return made ? std::move(*made) : read_result();
}

std::string served_repository::text(const std::string& uri, const std::shared_ptr<const access_filter>& through) const {
  const auto made = try_read(uri, through);
  EXPECT_TRUE(made) << uri << ": " << made.error().public_text << " / " << made.error().private_text;
  if (!made || made->contents.size() != 1) return "no content";
  return *std::get<shared_bytes>(made->contents.front().data);
}

failure served_repository::error(const std::string& uri) const {
  auto made = try_read(uri);
  EXPECT_FALSE(made) << uri;
  return made ? failure{} : std::move(made.error());
}

value served_repository::json(const std::string& uri, const std::shared_ptr<const access_filter>& through) const {
  const auto written = text(uri, through);
  auto parsed = value::parse(written);
  EXPECT_TRUE(parsed) << uri << ": " << written;
  return parsed ? std::move(*parsed) : value();
}

std::vector<std::string> served_repository::children(const std::string& uri, std::size_t a_page) const {
  std::vector<std::string> uris;
  children_request request;
  request.uri = uri;
  request.limit = a_page;
  for (;;) {
    const auto page = provider_->children(request);
    EXPECT_TRUE(page) << page.error().public_text;
    if (!page) return uris;
    EXPECT_LE(page->entries.size(), a_page);
    for (const auto& one : page->entries) uris.push_back(one.uri);
    if (!page->next_key) return uris;
    request.after_key = *page->next_key;
  }
}

complete_result served_repository::complete(const std::string& uri_template, const std::string& argument,
                                            const std::string& typed,
                                            std::vector<std::pair<std::string, std::string>> context) const {
  complete_request request;
  request.uri_template = uri_template;
  request.argument = argument;
  request.value = typed;
  request.context = std::move(context);
  auto made = provider_->complete(request);
  EXPECT_TRUE(made) << made.error().public_text;
  return made ? std::move(*made) : complete_result();
}

}  // namespace hondana::git
