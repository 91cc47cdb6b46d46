/// Callers who may not read all files, and the ways around.
#include <sys/fsuid.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Denies URIs as rules do that name folders, and files by what their entries say.
class denies final : public access_filter {
 public:
  explicit denies(std::vector<std::string> uris, std::vector<std::string> kinds = {})
      : uris_(std::move(uris)), kinds_(std::move(kinds)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 11; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    return std::none_of(uris_.begin(), uris_.end(), [uri](const std::string& one) { return uri_covers(one, uri); });
  }
  [[nodiscard]] bool uses_entries() const noexcept override { return !kinds_.empty(); }
  [[nodiscard]] bool may_see_entry(const resource& entry) const override {
    return may_see(entry.uri) && std::find(kinds_.begin(), kinds_.end(), entry.kind) == kinds_.end();
  }
  [[nodiscard]] bool may_read_entry(const resource& entry) const override { return may_see_entry(entry); }

 private:
  std::vector<std::string> uris_;
  std::vector<std::string> kinds_;
};

/// This thread has the rights of nobody, as long as it lives.
class without_rights {
 public:
  without_rights() : before_(::setfsuid(65534)) {}
  ~without_rights() { ::setfsuid(static_cast<uid_t>(before_)); }
  without_rights(const without_rights&) = delete;
  without_rights& operator=(const without_rights&) = delete;

 private:
  int before_;
};

struct denied_files : served_set {
  std::string seen(config_files_provider& from, const std::string& uri, const std::shared_ptr<const access_filter>& through) {
    read_request asked;
    asked.uri = canonical_uri(uri).value_or(uri);
    asked.requested_uri = uri;
    asked.max_bytes = 1u << 20;
    asked.caller.access_filter = through;
    const auto got = from.read(asked);
    return got ? *std::get<shared_bytes>(got->contents.front().data) : "error: " + std::string(name_of(got.error().code));
  }
  std::vector<std::string> listed_by(config_files_provider& from, const std::shared_ptr<const access_filter>& through) {
    list_request asked;
    asked.caller.access_filter = through;
    const auto page = from.list(asked);
    std::vector<std::string> all;
    for (const auto& one : page->entries) all.push_back(one.uri);
    return all;
  }
  std::vector<std::string> paths_for(config_files_provider& from, const std::shared_ptr<const access_filter>& through) {
    complete_request asked;
    asked.uri_template = "config://conf/file/{+path}{?key,format}";
    asked.argument = "path";
    asked.caller.access_filter = through;
    return from.complete(asked)->values;
  }
};

TEST_F(denied_files, stay_denied_in_layers_when_the_system_denies_them_too) {
  write("conf/a.yaml", "a: 1\n");
  write("conf/b.yaml", "b: 2\n");
  const auto from = serve(
      "path = \"conf\"\nwatch = false\n[[layer]]\nname = \"one\"\nfile = \"conf/a.yaml\"\n"
      "[[layer]]\nname = \"two\"\nfile = \"conf/b.yaml\"\n");
  const auto no_files = std::make_shared<denies>(std::vector<std::string>{}, std::vector<std::string>{"file"});
  const auto folders_only = std::make_shared<denies>(std::vector<std::string>{}, std::vector<std::string>{"folder"});
  const std::vector<std::string> views{"config://conf/merged", "config://conf/layers/one", "config://conf/diff/one..two"};
  for (const auto& uri : views) {
    EXPECT_EQ(seen(*from, uri, no_files), "error: access_denied");
    EXPECT_THAT(seen(*from, uri, folders_only), HasSubstr("\"a\""));
  }
  fs::permissions(root, fs::perms::all);
  fs::permissions(root / "conf/a.yaml", fs::perms::none);
  const without_rights nobody;
  ASSERT_EQ(error_at(*from, "config://conf/file/a.yaml"), errc::access_denied);
  for (const auto& uri : views) {
    EXPECT_EQ(seen(*from, uri, no_files), "error: access_denied");
    EXPECT_THAT(seen(*from, uri, folders_only), HasSubstr("\"a\""));
  }
}

TEST_F(denied_files, are_denied_through_links_too) {
  write("conf/private/x.yaml", "x: 1\n");
  write("conf/public/y.yaml", "y: 1\n");
  fs::create_symlink("private/x.yaml", root / "conf/pub.yaml");
  fs::create_symlink("public/y.yaml", root / "conf/open.yaml");
  const auto from = serve("path = \"conf\"\nwatch = false\n[[layer]]\nname = \"one\"\nfile = \"conf/pub.yaml\"\n");
  const auto by_uri = std::make_shared<denies>(std::vector<std::string>{"config://conf/file/private"});
  for (const auto* uri :
       {"config://conf/file/pub.yaml", "config://conf/file/pub.yaml?format=json", "config://conf/file/pub.yaml?key=x"}) {
    EXPECT_THAT(seen(*from, uri, nullptr), HasSubstr("x")) << uri;
    EXPECT_EQ(seen(*from, uri, by_uri), "error: resource_not_found") << uri;
    describe_request asked;
    asked.uri = uri;
    asked.caller.access_filter = by_uri;
    EXPECT_FALSE(from->describe(asked)) << uri;
  }
  for (const auto* uri : {"config://conf/merged", "config://conf/layers/one", "config://conf/diff/one..merged"}) {
    EXPECT_THAT(seen(*from, uri, nullptr), Not(HasSubstr("error"))) << uri;
    EXPECT_EQ(seen(*from, uri, by_uri), "error: access_denied") << uri;
  }
  EXPECT_EQ(seen(*from, "config://conf/file/open.yaml", by_uri), "y: 1\n");
  EXPECT_THAT(paths_for(*from, by_uri), ElementsAre("open.yaml", "public/y.yaml"));
  EXPECT_THAT(paths_for(*from, nullptr), ElementsAre("open.yaml", "private/x.yaml", "pub.yaml", "public/y.yaml"));
  EXPECT_THAT(listed_by(*from, by_uri), Not(testing::Contains("config://conf/file/pub.yaml")));
  EXPECT_THAT(listed_by(*from, by_uri), testing::Contains("config://conf/file/open.yaml"));
  EXPECT_THAT(seen(*from, "config://conf/file", by_uri), Not(HasSubstr("pub.yaml")));
  EXPECT_THAT(seen(*from, "config://conf/file", nullptr), HasSubstr("pub.yaml"));
  // What was read through a link belongs to what the link led to then.
  write("conf/public/broken.yaml", "a: [\n");
  fs::remove(root / "conf/pub.yaml");
  fs::create_symlink("public/broken.yaml", root / "conf/pub.yaml");
  EXPECT_THAT(seen(*from, "config://conf/merged", nullptr), HasSubstr("\"x\":1"));
  EXPECT_EQ(seen(*from, "config://conf/merged", by_uri), "error: access_denied");
  EXPECT_EQ(seen(*from, "config://conf/file/pub.yaml?format=json", by_uri), "error: resource_not_found");
}

TEST_F(denied_files, are_not_reached_through_links_to_folders_or_to_what_is_left_out) {
  write("conf/private/x.yaml", "x: 1\n");
  write("conf/vendor/v.yaml", "v: 1\n");
  write("conf/.hid/h.yaml", "h: 1\n");
  write("conf/.named.yaml", "n: 1\n");
  fs::create_directory_symlink("private", root / "conf/dirlink");
  fs::create_directory_symlink("vendor", root / "conf/vlink");
  fs::create_directory_symlink(".hid", root / "conf/hlink");
  fs::create_symlink("vendor/v.yaml", root / "conf/vl.yaml");
  fs::create_symlink(".named.yaml", root / "conf/n.yaml");
  const auto from =
      serve("paths = [\"conf\", \"conf/.named.yaml\"]\nname = \"conf\"\nexclude = [\"vendor/\"]\nwatch = false\n");
  for (const auto* path : {"dirlink/x.yaml", "vlink/v.yaml", "hlink/h.yaml", "vl.yaml"}) {
    EXPECT_EQ(error_at(*from, "config://conf/file/" + std::string(path)), errc::resource_not_found) << path;
    EXPECT_EQ(error_at(*from, "config://conf/file/" + std::string(path) + "?format=json"), errc::resource_not_found) << path;
  }
  EXPECT_EQ(text_at(*from, "config://conf/file/n.yaml"), "n: 1\n");
  const auto by_uri = std::make_shared<denies>(std::vector<std::string>{"config://conf/file/.named.yaml"});
  EXPECT_EQ(seen(*from, "config://conf/file/n.yaml", by_uri), "error: resource_not_found");
}

TEST_F(denied_files, of_volumes_are_asked_for_by_their_own_names_only) {
  write("conf/..2026_01/app.yaml", "a: 1\n");
  fs::create_directory_symlink("..2026_01", root / "conf/..data");
  fs::create_symlink("..data/app.yaml", root / "conf/app.yaml");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  const auto by_uri = std::make_shared<denies>(std::vector<std::string>{"config://conf/file/..2026_01"});
  EXPECT_EQ(seen(*from, "config://conf/file/app.yaml", by_uri), "a: 1\n");
  EXPECT_EQ(seen(*from, "config://conf/file/..data/app.yaml", by_uri), "error: resource_not_found");
}

TEST_F(denied_files, are_in_no_text_of_a_folder) {
  write("conf/a.yaml", "a: 1\n");
  write("conf/sub/b.yaml", "b: 2\n");
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  const auto no_files = std::make_shared<denies>(std::vector<std::string>{}, std::vector<std::string>{"file"});
  EXPECT_EQ(seen(*from, "config://conf/file", no_files), "config://conf/file/sub\n");
  EXPECT_EQ(seen(*from, "config://conf/file", nullptr), "config://conf/file/a.yaml\nconfig://conf/file/sub\n");
}

}  // namespace
}  // namespace hondana::config_files
