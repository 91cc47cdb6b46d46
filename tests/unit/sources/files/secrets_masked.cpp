/// Secrets in files: masked in the whole before anything is cut out of it, whatever is asked for.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes/prepared_content.hpp"
#include "scratch_folder.hpp"
#include "sources/files/completion.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::files {
namespace {

using secrets::masking_policy;
using test::lots;

class masked_files : public testing::Test {
 protected:
  masked_files() : files_(open_provider(root_)) {}

  std::string part(const std::string& path_and_query) { return read_text(*files_, root_.uri(path_and_query)); }
  std::string bytes(const std::string& name, std::size_t first, std::size_t last) {
    return part(name + "?bytes=" + std::to_string(first) + "-" + std::to_string(last));
  }
  /// What `_meta` says of a whole read, once it is ready to send.
  metadata facts(const std::string& path_and_query) {
    auto found = read(*files_, root_.uri(path_and_query));
    if (!found) return {};
    const read_request asked{{}, "file:///x", "file:///x", {}, {}};
    const auto ready = bytes::prepare_content(std::move(*found), asked);
    return ready ? ready->contents.front().metadata : metadata{};
  }
  static metadata redacted(std::int64_t count) { return {{"dev.hondana/redacted", count}}; }

  scratch_folder root_;
  std::shared_ptr<files_provider> files_;
  lots from_{31};
};

TEST_F(masked_files, show_no_secret_and_say_how_many_there_were) {
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from_);
    const std::string name = shape.how == masking_policy::settings ? "a.toml" : "a.txt";
    root_.write(name, one.text());
    EXPECT_EQ(part(name), one.masked()) << shape.name;
    EXPECT_EQ(facts(name), redacted(1)) << shape.name;
  }
  root_.write("plain.txt", "nothing here\n");
  EXPECT_EQ(facts("plain.txt"), metadata{});
}

TEST_F(masked_files, are_cut_after_they_were_masked_at_every_byte_and_line_around_a_secret) {
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from_);
    const std::string name = shape.how == masking_policy::settings ? "a.yaml" : "a.txt";
    const auto whole = "first\n" + one.masked() + "\n\nThe last line.\n";
    root_.write(name, "first\n" + one.text() + "\n\nThe last line.\n");
    const std::size_t step = one.secret.size() > 200 ? 41 : 3;
    for (std::size_t at = 0; at + 1 < whole.size(); at += step) {
      ASSERT_EQ(bytes(name, at, at), whole.substr(at, 1)) << shape.name << " at " << at;
      ASSERT_EQ(bytes(name, at, at + 20), whole.substr(at, 21)) << shape.name << " at " << at;
    }
    std::size_t begin = 0;
    for (int line = 1; begin < whole.size(); ++line) {
      const auto end = whole.find('\n', begin) + 1;
      ASSERT_EQ(part(name + "?lines=" + std::to_string(line)), whole.substr(begin, end - begin))
          << shape.name << " line " << line;
      begin = end;
    }
  }
}

TEST_F(masked_files, of_any_size_are_masked_the_same_whole_and_in_parts) {
  std::string text;
  std::string whole;
  std::int64_t count = 0;
  while (text.size() < (3u << 20)) {
    for (const auto& shape : test::secret_shapes()) {
      if (shape.how != masking_policy::text) continue;
      const auto one = shape.draw(from_);
      const auto prose = "\nSome prose stands between.\n" + from_.of("abc def\n", from_.below(9000)) + "\n";
      text += one.text() + prose;
      whole += one.masked() + prose;
      ++count;
    }
  }
  root_.write("big.txt", text);
  EXPECT_TRUE(part("big.txt") == whole);
  EXPECT_EQ(facts("big.txt"), redacted(count));
  for (int i = 0; i < 60; ++i) {
    const auto first = from_.below(whole.size());
    const auto size = 1 + from_.below(i % 10 == 0 ? (2u << 20) : 5000);
    ASSERT_TRUE(bytes("big.txt", first, first + size - 1) == whole.substr(first, size)) << first << "+" << size;
  }
}

TEST_F(masked_files, are_masked_in_folders_titles_and_descriptions) {
  const auto token = "ghp_" + from_.alnum(36);
  const auto masked = "ghp_" + std::string(36, '*');
  root_.write("in/a.md", "# About " + token + "\n\nThe token is " + token + ".\n");
  const auto folder = read(*files_, root_.uri("in"));
  ASSERT_TRUE(folder);
  ASSERT_EQ(folder->contents.size(), 2u);
  EXPECT_EQ(bytes_of(folder->contents[1]).find(token), std::string::npos);
  EXPECT_EQ(folder->contents[1].metadata, redacted(2));
  EXPECT_EQ(folder->contents[1].title, "About " + masked) << "so many asterisks are no emphasis";
  const auto entries = list_until(*files_, [](const auto& all) { return !entry_named(all, "in/a.md").title.empty(); });
  EXPECT_EQ(entry_named(entries, "in/a.md").title, "About " + masked);
  EXPECT_EQ(entry_named(entries, "in/a.md").description, "The token is " + masked + ".");
  describe_request asked;
  asked.uri = root_.uri("in/a.md");
  const auto entry = files_->describe(asked);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->description.find(token), std::string::npos);
}

TEST_F(masked_files, are_masked_in_cells_of_notebooks) {
  const auto token = "sk-ant-api03-" + from_.word(95);
  root_.write("a.ipynb",
              R"({"cells":[{"cell_type":"code","source":["key = \")" + token + R"(\"\n"],"outputs":[]}],"nbformat":4})");
  EXPECT_EQ(part("a.ipynb").find(token.substr(3)), std::string::npos);
}

TEST_F(masked_files, are_masked_where_they_are_utf_16) {
  const auto token = "ghp_" + from_.alnum(36);
  std::string wide = "\xFF\xFE";
  std::string raw;
  for (const char byte : token) raw += std::string{byte, '\0'};
  root_.write("a.txt", wide + raw);
  const auto sent = part("a.txt");
  EXPECT_EQ(sent.size(), wide.size() + raw.size());
  EXPECT_EQ(sent.find(raw.substr(8, 20)), std::string::npos);
  EXPECT_EQ(bytes("a.txt", 11, 30), sent.substr(11, 20));
}

TEST_F(masked_files, are_masked_in_ranges_of_japanese_in_characters_of_two_and_four_bytes) {
  const auto token = "ghp_" + from_.alnum(36);
  for (const std::size_t width : {2u, 4u}) {
    const auto written = [width](std::string_view ascii) {
      const auto padding = std::string(width - 2, '\0');
      std::string out;
      while (out.size() < 700'000) out += "\x2D\x4E" + padding + "\xC7\x65" + padding;
      const auto prose = out;
      for (const char byte : ascii) out += byte + std::string(width - 1, '\0');
      return out + prose;
    };
    const auto whole = written("ghp_" + std::string(36, '*'));
    root_.write("j.txt", written(token));
    EXPECT_TRUE(part("j.txt") == whole);
    for (std::size_t first = 699'990; first < 700'010; ++first) {
      ASSERT_TRUE(bytes("j.txt", first, first + 99) == whole.substr(first, 100)) << width << ' ' << first;
      ASSERT_TRUE(bytes("j.txt", first + width * 20, first + width * 30) == whole.substr(first + width * 20, width * 10 + 1));
    }
  }
}

TEST_F(masked_files, keep_their_versions_and_stay_unmodified) {
  const auto token = "ghp_" + from_.alnum(36);
  root_.write("a.txt", token);
  auto with = serving(root_.path());
  with.roots.front().redact = false;
  const auto plain = open_provider(with);
  auto found = read(*files_, root_.uri("a.txt"));
  ASSERT_TRUE(hondana_test::eventually([&] { return !(found = read(*files_, root_.uri("a.txt"))) || !found->is_racy; }));
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->version.empty());
  read_request again;
  again.uri = again.requested_uri = root_.uri("a.txt");
  again.cached_version = found->version;
  const auto same = files_->read(again);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->contents.empty());
  EXPECT_EQ(same->version, found->version);
}

TEST_F(masked_files, are_left_as_they_are_where_the_configuration_says_so) {
  const auto token = "ghp_" + from_.alnum(36);
  root_.write("a.md", "# " + token + "\n");
  auto with = serving(root_.path());
  with.roots.front().redact = false;
  const auto plain = open_provider(with);
  EXPECT_EQ(read_text(*plain, root_.uri("a.md")), "# " + token + "\n");
  EXPECT_EQ(plain->traits().masking, secret_masking::none);
  EXPECT_EQ(files_->traits().masking, secret_masking::by_source);
  const auto entries = list_until(*plain, [](const auto& all) { return !entry_named(all, "a.md").title.empty(); });
  EXPECT_EQ(entry_named(entries, "a.md").title, token);
}

TEST_F(masked_files, are_searched_for_settings_by_their_names) {
  const auto line = "DB_PASSWORD=" + from_.alnum(12) + "1!\n";
  auto with = serving(root_.path());
  with.roots.front().allow = {".env"};
  files_ = open_provider(with);
  for (const auto* name : {".env", "a.ini", "a.properties", "a.toml", "a.yaml", "a.YML", "a.json", "app.log"}) {
    root_.write(name, line);
    EXPECT_NE(part(name), line) << name;
  }
  for (const auto* name : {"a.txt", "a.cpp", "a.md"}) {
    root_.write(name, line);
    EXPECT_EQ(part(name), line) << name;
  }
}

TEST_F(masked_files, are_followed_through_links_by_what_they_really_are) {
  const auto line = "password = \"" + from_.alnum(12) + "1!\"\n";
  root_.write("a.toml", line);
  root_.link("b.txt", "a.toml");
  EXPECT_NE(part("b.txt"), line);
}

}  // namespace
}  // namespace hondana::files
