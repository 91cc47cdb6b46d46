/// The tables [search] and [search.embeddings].
#include "sources/config/search_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/config/table_reader.hpp"

namespace hondana::config {
namespace {

constexpr std::int64_t max_interval_ms = 86'400'000;
constexpr std::uint64_t max_text_bytes = 1u << 30;

void make_absolute(const section& table, std::string_view key, std::string& path, error_collector& errors) {
  if (path.empty()) return;
  std::error_code error;
  auto absolute = std::filesystem::absolute(table.resolve_path(path), error).lexically_normal().string();
  if (error) return errors.add(table.error_at(key, "cannot be made absolute: " + error.message()));
  path = std::move(absolute);
}

void read_prefixes(section& table, std::string_view key, std::vector<std::string>& target, error_collector& errors) {
  auto prefixes = table.strings(key);
  if (!prefixes) return errors.add(std::move(prefixes.error()));
  const auto is_uri = [](const std::string& prefix) { return prefix.find(':') != std::string::npos; };
  if (const auto invalid = std::find_if_not(prefixes->begin(), prefixes->end(), is_uri); invalid != prefixes->end())
    errors.add(table.error_at(
        key, "\"" + *invalid +
                 "\" is not the beginning of a URI; write it as `hondana ls` prints it, such as \"file:///home/me/docs/\""));
  target = std::move(*prefixes);
}

bool is_web_url(const std::string& text) {
  const auto parts = split_uri(text);
  return (ascii::equals_ignore_case(parts.scheme, "http") || ascii::equals_ignore_case(parts.scheme, "https")) &&
         parts.authority && !parts.authority->empty() && !parts.fragment && canonical_uri(text).has_value();
}

embedding_options read_embeddings(section table, error_collector& errors) {
  embedding_options options;
  errors.assign(table.string("url"), options.url);
  errors.assign(table.string("model"), options.model);
  errors.assign(table.integer("dimensions", 1, 65'536), options.dimensions);
  errors.assign(table.string("query_prefix"), options.query_prefix);
  errors.assign(table.string("document_prefix"), options.document_prefix);
  errors.assign(table.string("bearer_file"), options.bearer_file);
  errors.assign(table.string("authorities"), options.ca_file);
  errors.assign(table.integer("batch", 1, 2048), options.batch_size);
  errors.assign_time(table, "timeout_ms", options.timeout);
  errors.assign_time(table, "query_timeout_ms", options.query_timeout);
  errors.assign(table.boolean("secrets_in_the_clear"), options.allows_cleartext_token);
  if (options.url.empty())
    errors.add(table.error_at("url", "missing; name the service up to /v1, e.g. url = \"http://localhost:11434/v1\""));
  if (!options.url.empty() && !is_web_url(options.url))
    errors.add(table.error_at(
        "url", "\"" + options.url + "\" is not the URL of a service; write one like \"http://localhost:11434/v1\""));
  if (options.model.empty()) errors.add(table.error_at("model", "missing; name the model as the service calls it"));
  make_absolute(table, "bearer_file", options.bearer_file, errors);
  make_absolute(table, "authorities", options.ca_file, errors);
  errors.check(table.finish());
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
  error_collector errors;
  std::string tokenizer = "auto";
  auto interval = options.scan_interval.count();
  errors.assign(table.string("path"), options.path);
  errors.assign(table.string("postgres"), options.postgres_url);
  errors.assign(table.string("postgres_schema"), options.postgres_schema);
  read_prefixes(table, "include", options.include, errors);
  read_prefixes(table, "exclude", options.exclude, errors);
  errors.assign(table.bytes("largest"), options.max_resource_bytes);
  errors.assign(table.integer("most_passages", 1, 100'000'000), options.max_passages);
  errors.assign(table.integer("interval_ms", 100, max_interval_ms), interval);
  errors.assign(table.string("words"), tokenizer);
  errors.assign(table.string("dictionary"), options.dictionary);
  std::optional<section> embeddings;
  errors.assign(table.subsection("embeddings"), embeddings);
  if (embeddings) options.embeddings = read_embeddings(std::move(*embeddings), errors);
  if (!options.path.empty() && options.path.ends_with('/'))
    errors.add(table.error_at("path", "expected the path of a file, e.g. path = \"/var/lib/hondana/search.db\""));
  if (!options.path.empty() && !options.postgres_url.empty())
    errors.add(table.error_at("postgres", "the index is stored in a file or in PostgreSQL; remove this key or path"));
  if (options.max_resource_bytes < 1024 || options.max_resource_bytes > max_text_bytes)
    errors.add(table.error_at("largest", "expected 1KiB to 1GiB"));
  if (tokenizer == "mecab") {
    options.tokenizer = tokenizer_kind::mecab;
  } else if (tokenizer == "trigrams") {
    options.tokenizer = tokenizer_kind::trigrams;
  } else if (tokenizer != "auto") {
    errors.add(table.error_at("words", "expected \"auto\" (MeCab if installed), \"mecab\" or \"trigrams\""));
  }
  make_absolute(table, "path", options.path, errors);
  make_absolute(table, "dictionary", options.dictionary, errors);
  errors.check(table.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  options.scan_interval = std::chrono::milliseconds(interval);
  return options;
}

bool is_equivalent(const std::optional<search_options>& left, const std::optional<search_options>& right) {
  if (!left || !right) return left.has_value() == right.has_value();
  if (left->embeddings.has_value() != right->embeddings.has_value()) return false;
  if (left->embeddings && comparable_fields(*left->embeddings) != comparable_fields(*right->embeddings)) return false;
  return comparable_fields(*left) == comparable_fields(*right);
}

}  // namespace hondana::config
