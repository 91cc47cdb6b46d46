/// The tables `[search]` and `[search.embeddings]`.
#include "sources/config/search_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

std::string fault_of_search(const std::string& text) {
  const auto made = parse(text, "c.toml");
  return made ? std::string() : made.error().public_text;
}

TEST(search_settings, are_read_whole) {
  const auto made = parse(
      "[search]\npath = \"/x/i.db\"\ntokenizer = \"trigrams\"\ninclude = [\"docs://d/\"]\nexclude = [\"docs://d/old\"]\n"
      "max_resource_bytes = \"2MiB\"\nmax_passages = 7\nscan_interval_ms = 200\ndictionary = \"/x/dic\"\n"
      "[search.embeddings]\nurl = \"http://localhost:11434/v1\"\nmodel = \"m\"\nbatch_size = 3\ntimeout_ms = "
      "5\nquery_timeout_ms = "
      "6\n"
      "query_prefix = \"q\"\ndocument_prefix = \"d\"\ndimensions = 4\nbearer_file = \"/x/t\"\nca_file = \"/x/ca\"\n"
      "allow_cleartext_credentials = true\n",
      "c.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& search = *made->search;
  EXPECT_EQ(search.path, "/x/i.db");
  EXPECT_EQ(search.tokenizer, tokenizer_kind::trigrams);
  EXPECT_EQ(search.include, std::vector<std::string>{"docs://d/"});
  EXPECT_EQ(search.exclude, std::vector<std::string>{"docs://d/old"});
  EXPECT_EQ(search.max_resource_bytes, 2u << 20);
  EXPECT_EQ(search.max_passages, 7u);
  EXPECT_EQ(search.scan_interval.count(), 200);
  EXPECT_EQ(search.dictionary, "/x/dic");
  ASSERT_TRUE(search.embeddings);
  const auto& by = *search.embeddings;
  EXPECT_EQ(by.url, "http://localhost:11434/v1");
  EXPECT_EQ(by.model + by.query_prefix + by.document_prefix, "mqd");
  EXPECT_EQ(by.batch_size, 3u);
  EXPECT_EQ(by.timeout.count(), 5);
  EXPECT_EQ(by.query_timeout.count(), 6);
  EXPECT_EQ(by.dimensions, 4u);
  EXPECT_EQ(by.bearer_file, "/x/t");
  EXPECT_EQ(by.ca_file, "/x/ca");
  EXPECT_TRUE(by.allows_cleartext_token);
}

TEST(search_settings, that_are_wrong_are_named_with_their_line) {
  const std::pair<std::string, std::string> all[]{
      {"wrds = \"auto\"", "c.toml:2: search.wrds: unknown key"},
      {"tokenizer = \"mekab\"", "c.toml:2: search.tokenizer: "},
      {"path = \"x/\"", "c.toml:2: search.path: "},
      {"path = \"x\"\npostgres_url = \"postgresql://h/d\"", "c.toml:3: search.postgres_url: "},
      {"max_resource_bytes = \"1\"", "c.toml:2: search.max_resource_bytes: "},
      {"scan_interval_ms = 1", "c.toml:2: search.scan_interval_ms: "},
      {"max_passages = 0", "c.toml:2: search.max_passages: "},
      {"include = [\"docs\"]", "c.toml:2: search.include: "},
      {"dictionary = 7", "c.toml:2: search.dictionary: "},
      {"[search.embeddings]\nmodel = \"m\"", "search.embeddings.url: missing"},
      {"[search.embeddings]\nurl = \"http://a/v1\"", "search.embeddings.model: missing"},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"localhost:11434/v1\"", "c.toml:4: search.embeddings.url: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"ftp://a/v1\"", "c.toml:4: search.embeddings.url: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"http:///v1\"", "c.toml:4: search.embeddings.url: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"http://a b/v1\"", "c.toml:4: search.embeddings.url: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"http://a/v1#x\"", "c.toml:4: search.embeddings.url: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"http://a/v1\"\nbatch_size = 0", "c.toml:5: search.embeddings.batch_size: "},
      {"[search.embeddings]\nmodel = \"m\"\nurl = \"http://a/v1\"\nkey = \"x\"",
       "c.toml:5: search.embeddings.key: unknown key"}};
  for (const auto& [text, said] : all) {
    EXPECT_NE(fault_of_search("[search]\n" + text + '\n').find(said), std::string::npos)
        << text << '\n'
        << fault_of_search("[search]\n" + text + '\n');
  }
}

}  // namespace
}  // namespace hondana::config
