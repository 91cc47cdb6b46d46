/// Which URIs in others are written in which other ways.
#include "base/uri/equivalent_uris.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace hondana::uri {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Optional;

std::optional<std::vector<std::string>> inside(std::string_view uri, const std::vector<std::string>& mounts = {}) {
  std::size_t spent = 0;
  return nested_equivalent_forms(uri, mounts, spent);
}

TEST(spellings_inside, are_none_of_what_has_no_uri_in_it_or_one_that_is_written_plainly) {
  for (const auto* uri : {"memo:///a", "file:///srv/a:b", "wiki://x/Category:Shelves", "mcp://u/memo:///a/b?q=HTTP://x",
                          "mcp://u/wiki://x/Category:Shelves", "mcp://u/urn:isbn:1", "memo:///2:/x"})
    EXPECT_THAT(inside(uri), Optional(IsEmpty())) << uri;
}

TEST(spellings_inside, have_the_one_that_rules_are_written_for) {
  const std::pair<const char*, const char*> all[] = {
      {"mcp://u/FILE:///srv/a", "mcp://u/file:///srv/a"},
      {"mcp://u/file://localhost/srv/a", "mcp://u/file:///srv/a"},
      {"mcp://u/file:/srv/a", "mcp://u/file:///srv/a"},
      {"mcp://u/file:%2F%2F%2Fsrv/a", "mcp://u/file:///srv/a"},
      {"mcp://u/file:///srv//a", "mcp://u/file:///srv/a"},
      {"mcp://u/file:///srv%2Fa", "mcp://u/file:///srv/a"},
      {"mcp://u/memo:///a/", "mcp://u/memo:///a"},
      {"mcp://u/demo://HOST/a", "mcp://u/demo://host/a"},
      {"mcp://u/URN:isbn:1", "mcp://u/urn:isbn:1"},
      {"team://all/of/it/File:/srv/a", "team://all/of/it/file:///srv/a"},
      {"mcp://u/MCP://v/FILE:///srv/a", "mcp://u/mcp://v/file:///srv/a"},
      {"mcp://u/mcp://v/FILE:///srv/a", "mcp://u/mcp://v/file:///srv/a"},
      {"mcp://u/MCP://v/URN:isbn:1", "mcp://u/mcp://v/urn:isbn:1"},
      {"mcp://u/MCP://v/URN:isbn:1", "mcp://u/MCP://v/urn:isbn:1"},
      {"mcp://u/HTTPS://web/HTTP://old/x", "mcp://u/https://web/HTTP://old/x"},
  };
  for (const auto& [written, meant] : all) EXPECT_THAT(inside(written), Optional(Contains(meant))) << written;
}

TEST(spellings_inside, begin_right_behind_the_prefix_of_a_mount_also_without_a_slash) {
  const std::vector<std::string> mounts{"notes://team/", "wiki://all/of/it/"};
  const std::pair<const char*, const char*> all[] = {
      {"notes://team/URN:isbn:1", "notes://team/urn:isbn:1"},
      {"notes://team/Notes://Team/URN:isbn:1", "notes://team/notes://team/urn:isbn:1"},
      {"wiki://all/of/it/DOCS:keys?lines=1", "wiki://all/of/it/docs:keys"},
  };
  for (const auto& [written, meant] : all) EXPECT_THAT(inside(written, mounts), Optional(Contains(meant))) << written;
  for (const auto* uri : {"notes://team/a/Category:Shelves", "wiki://all/of/Category:Shelves", "notes://team/memo:///a"})
    EXPECT_THAT(inside(uri, mounts), Optional(IsEmpty())) << uri;
}

std::string times_over(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// attacks: a URI that takes long to compare
TEST(spellings_inside, of_whatever_uri_are_few_and_cost_little) {
  std::vector<std::string> worst;
  for (const auto* const pad : {"z", "z/", "%C3", "z%2F", "A:/", "x:", "a://B/", "/"}) {
    for (std::size_t places = 0; places < 20; ++places) {
      const auto front = "file:///srv/" + times_over("a://b/", places) + "X:%2F";
      worst.push_back(front + times_over(pad, (8190 - front.size()) / std::string_view(pad).size()) + "/");
      worst.push_back("mcp://u/" + times_over("FILE://LOCALHOST//", places) + times_over(pad, 1900) + "/?q#f");
    }
  }
  std::size_t most = 0;
  for (const auto& uri : worst) {
    std::size_t spent = 7;
    const auto found = nested_equivalent_forms(uri, {}, spent);
    EXPECT_LE(spent, 7 + 65'536u) << uri.substr(0, 200);
    std::size_t bytes = 0;
    for (const auto& one : found.value_or(std::vector<std::string>())) bytes += one.size();
    EXPECT_LE(bytes, spent - 7) << uri.substr(0, 200);
    most = std::max(most, spent - 7);
  }
  EXPECT_EQ(most, 65'536u) << "the worst are among them";
  EXPECT_FALSE(inside("file:///srv/" + times_over("a://b/", 13) + "X:%2F" + times_over("z%2F", 1900) + "/"));
}

TEST(spellings_inside, are_compared_of_the_longest_uris_that_somebody_writes) {
  for (const auto* const front : {"mcp://u/file:///", "mcp://u/FILE:///", "mcp://u/mcp://v/file:///"})
    EXPECT_TRUE(inside(front + times_over("a/", 4080) + "b").has_value()) << front;
}

TEST(spellings_inside, are_not_compared_when_somebody_makes_too_many) {
  std::string nested = "mcp://u/";
  for (int i = 0; i < 40; ++i) nested += "MCP://v/";
  EXPECT_FALSE(inside(nested + "FILE:///srv/a"));
  EXPECT_FALSE(inside("mcp://u/HTTP://A//b/HTTP://A//b/HTTP://A//b/HTTP://A//b/"));
}

}  // namespace
}  // namespace hondana::uri
