/// The tables [search] and [search.embeddings].
#include "sources/config/search_settings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr std::int64_t max_interval_ms = 86'400'000;
constexpr std::uint64_t max_text_bytes = 1u << 30;

constexpr std::array<std::pair<std::string_view, tokenizer_kind>, 3> tokenizers{
    {{"auto", tokenizer_kind::automatic}, {"mecab", tokenizer_kind::mecab}, {"trigrams", tokenizer_kind::trigrams}}};

/// Reads a path, and makes it absolute; an empty one counts as absent.
void read_path(table_reader& reader, std::string_view key, std::optional<std::string>& target) {
  reader.text(key, target);
  if (target) target = reader.absolute_path(key, *target);
}

void read_prefixes(table_reader& reader, std::string_view key, std::vector<std::string>& target) {
  reader.strings(key, target);
  const auto is_uri = [](const std::string& prefix) { return prefix.find(':') != std::string::npos; };
  if (const auto invalid = std::find_if_not(target.begin(), target.end(), is_uri); invalid != target.end())
    reader.add_error_at(
        key, "\"" + *invalid +
                 "\" is not the beginning of a URI; write it as `hondana ls` prints it, such as \"file:///home/me/docs/\"");
}

bool is_web_url(const std::string& text) {
  const auto parts = split_uri(text);
  return (ascii::equals_ignore_case(parts.scheme, "http") || ascii::equals_ignore_case(parts.scheme, "https")) &&
         parts.authority && !parts.authority->empty() && !parts.fragment && canonical_uri(text).has_value();
}

result<embedding_options> read_embeddings(section table) {
  embedding_options options;
  table_reader reader(table);
  reader.string("url", options.url);
  reader.string("model", options.model);
  reader.integer("dimensions", 1, 65'536, options.dimensions);
  reader.string("query_prefix", options.query_prefix);
  reader.string("document_prefix", options.document_prefix);
  reader.integer("batch_size", 1, 2048, options.batch_size);
  reader.milliseconds("timeout_ms", options.timeout);
  reader.milliseconds("query_timeout_ms", options.query_timeout);
  reader.boolean("allow_cleartext_credentials", options.allows_cleartext_token);
  if (options.url.empty())
    reader.add_error_at("url", "missing; name the service up to /v1, e.g. url = \"http://localhost:11434/v1\"");
  if (!options.url.empty() && !is_web_url(options.url))
    reader.add_error_at("url",
                        "\"" + options.url + "\" is not the URL of a service; write one like \"http://localhost:11434/v1\"");
  if (options.model.empty()) reader.add_error_at("model", "missing; name the model as the service calls it");
  read_path(reader, "bearer_file", options.bearer_file);
  read_path(reader, "ca_file", options.ca_file);
  HONDANA_TRY(reader.finish());
  return options;
}

auto comparable_fields(const embedding_options& options) {
  return std::tie(options.url, options.model, options.dimensions, options.query_prefix, options.document_prefix,
                  options.bearer_file, options.ca_file, options.batch_size, options.timeout, options.query_timeout,
                  options.allows_cleartext_token);
}

auto comparable_fields(const search_options& options) {
  return std::tie(options.path, options.postgres_url, options.postgres_schema, options.include, options.exclude,
                  options.max_resource_bytes, options.max_passages, options.scan_interval, options.tokenizer,
                  options.dictionary);
}

}  // namespace

result<search_options> read_search(section table) {
  search_options options;
  table_reader reader(table);
  reader.text("path", options.path);
  if (options.path && options.path->ends_with('/')) {
    reader.add_error_at("path", "expected the path of a file, e.g. path = \"/var/lib/hondana/search.db\"");
  } else if (options.path) {
    options.path = reader.absolute_path("path", *options.path);
  }
  reader.text("postgres_url", options.postgres_url);
  reader.string("postgres_schema", options.postgres_schema);
  if (options.path && options.postgres_url)
    reader.add_error_at("postgres_url", "the index is stored in a file or in PostgreSQL; remove this key or path");
  read_prefixes(reader, "include", options.include);
  read_prefixes(reader, "exclude", options.exclude);
  reader.bytes("max_resource_bytes", options.max_resource_bytes);
  if (options.max_resource_bytes < 1024 || options.max_resource_bytes > max_text_bytes)
    reader.add_error_at("max_resource_bytes", "expected 1KiB to 1GiB");
  reader.integer("max_passages", 1, 100'000'000, options.max_passages);
  reader.milliseconds("scan_interval_ms", options.scan_interval, 100, max_interval_ms);
  reader.choice("tokenizer", tokenizers, options.tokenizer);
  read_path(reader, "dictionary", options.dictionary);
  reader.subtable("embeddings", read_embeddings, options.embeddings);
  HONDANA_TRY(reader.finish());
  return options;
}

bool is_equivalent(const std::optional<search_options>& left, const std::optional<search_options>& right) {
  if (!left || !right) return left.has_value() == right.has_value();
  if (left->embeddings.has_value() != right->embeddings.has_value()) return false;
  if (left->embeddings && comparable_fields(*left->embeddings) != comparable_fields(*right->embeddings)) return false;
  return comparable_fields(*left) == comparable_fields(*right);
}

}  // namespace hondana::config
