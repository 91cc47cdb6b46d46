/// Completing paths, keys and layers, and views that do not show everything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Lets everything be seen but some URIs.
class all_but final : public access_filter {
 public:
  explicit all_but(std::vector<std::string> hidden) : hidden_(std::move(hidden)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    return std::none_of(hidden_.begin(), hidden_.end(), [uri](const std::string& one) { return uri_covers(one, uri); });
  }

 private:
  std::vector<std::string> hidden_;
};

struct completed_set : served_set {
  static constexpr const char* file = "config://conf/file/{+path}{?key,format}";
  static constexpr const char* merged = "config://conf/merged{?key}";
  static constexpr const char* diff = "config://conf/diff/{from}..{to}";
  std::shared_ptr<config_files_provider> from;

  void SetUp() override {
    write("conf/app.toml",
          "title = \"x\"\n[server]\nport = 80\nhost = \"h\"\n[server.tls]\nversion = 2\n[[hosts]]\nname = \"a\"\n");
    write("conf/deep/app.toml", "other = 1\n");
    write("conf/100%.toml", "x = 1\n");
    from = serve(
        "path = \"conf\"\nwatch = false\n"
        "[[layer]]\nname = \"site\"\nfile = \"conf/app.toml\"\n"
        "[[layer]]\nname = \"flags\"\nflags = [\"--debug\"]\n");
  }
  std::vector<std::string> seen_by(std::shared_ptr<const access_filter> who, std::string uri_template, std::string argument,
                                   std::vector<std::pair<std::string, std::string>> context = {}) {
    complete_request request;
    request.caller.access_filter = std::move(who);
    request.uri_template = std::move(uri_template);
    request.argument = std::move(argument);
    request.context = std::move(context);
    const auto found = from->complete(request);
    return found ? found->values : std::vector{"error: " + found.error().public_text};
  }
};

TEST_F(completed_set, offers_paths) {
  EXPECT_THAT(completed(*from, file, "path", ""), ElementsAre("100%25.toml", "app.toml", "deep/app.toml"));
  EXPECT_THAT(completed(*from, file, "path", "app"), ElementsAre("app.toml", "deep/app.toml"));
  EXPECT_THAT(completed(*from, file, "format", ""), ElementsAre("json"));
}

TEST_F(completed_set, offers_keys_those_near_the_top_first) {
  const std::vector<std::pair<std::string, std::string>> path{{"path", "app.toml"}};
  EXPECT_THAT(completed(*from, file, "key", "", path),
              ElementsAre("title", "server", "hosts", "server.port", "server.host", "server.tls", "hosts.0",
                          "server.tls.version", "hosts.0.name"));
  EXPECT_THAT(completed(*from, file, "key", "server.t", path),
              ElementsAre("server.tls", "server.tls.version", "server.port", "server.host"));
  EXPECT_THAT(completed(*from, file, "key", "version", path), ElementsAre("server.tls.version"));
  EXPECT_THAT(completed(*from, file, "key", ""), IsEmpty());
  EXPECT_THAT(completed(*from, file, "key", "", {{"path", "none.toml"}}), IsEmpty());
  EXPECT_THAT(completed(*from, file, "key", "", {{"path", "100%25.toml"}}), ElementsAre("x"));
  EXPECT_THAT(completed(*from, merged, "key", "de"), ElementsAre("debug"));
}

TEST_F(completed_set, offers_layers) {
  EXPECT_THAT(completed(*from, "config://conf/layers/{name}", "name", ""), ElementsAre("site", "flags"));
  EXPECT_THAT(completed(*from, diff, "from", ""), ElementsAre("site", "flags", "merged"));
  EXPECT_THAT(completed(*from, diff, "to", "", {{"from", "site"}}), ElementsAre("flags", "merged"));
}

TEST_F(completed_set, offers_nothing_that_is_not_seen) {
  const auto no_app = std::make_shared<all_but>(std::vector<std::string>{"config://conf/file/app.toml"});
  EXPECT_THAT(seen_by(no_app, file, "path"), ElementsAre("100%25.toml", "deep/app.toml"));
  EXPECT_THAT(seen_by(no_app, file, "key", {{"path", "app.toml"}}), IsEmpty());
  EXPECT_THAT(seen_by(no_app, merged, "key"), IsEmpty());
  const auto no_layer = std::make_shared<all_but>(std::vector<std::string>{"config://conf/layers/site"});
  EXPECT_THAT(seen_by(no_layer, diff, "from"), ElementsAre("flags", "merged"));
}

TEST_F(completed_set, gives_nothing_made_of_files_that_may_not_be_read) {
  read_request request;
  request.caller.access_filter = std::make_shared<all_but>(std::vector<std::string>{"config://conf/file/app.toml"});
  for (const auto* uri : {"config://conf/merged", "config://conf/layers/flags", "config://conf/diff/site..flags"}) {
    request.uri = request.requested_uri = uri;
    const auto got = from->read(request);
    ASSERT_FALSE(got) << uri;
    EXPECT_EQ(got.error().code, errc::access_denied) << uri;
  }
}

}  // namespace
}  // namespace hondana::config_files
