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

constexpr std::int64_t longest_interval = 86'400'000;
constexpr std::uint64_t largest_text = 1u << 30;

void make_absolute(const section& from, std::string_view key, std::string& path, collector& errors) {
  if (path.empty()) return;
  std::error_code problem;
  auto absolute = std::filesystem::absolute(from.path_from(path), problem).lexically_normal().string();
  if (problem) return errors.note(from.wrong(key, "cannot be made absolute: " + problem.message()));
  path = std::move(absolute);
}

void take_prefixes(section& from, std::string_view key, std::vector<std::string>& into, collector& errors) {
  auto all = from.strings(key);
  if (!all) return errors.note(std::move(all.error()));
  const auto is_uri = [](const std::string& one) { return one.find(':') != std::string::npos; };
  if (const auto bad = std::find_if_not(all->begin(), all->end(), is_uri); bad != all->end())
    errors.note(from.wrong(
        key, "\"" + *bad +
                 "\" is not the beginning of a URI; write it as `hondana ls` prints it, such as \"file:///home/me/docs/\""));
  into = std::move(*all);
}

bool is_web_url(const std::string& text) {
  const auto parts = split_uri(text);
  return (ascii::is_same(parts.scheme, "http") || ascii::is_same(parts.scheme, "https")) && parts.authority &&
         !parts.authority->empty() && !parts.fragment && canonical_uri(text).has_value();
}

embedding_options read_embeddings(section from, collector& errors) {
  embedding_options out;
  errors.take(from.string("url"), out.url);
  errors.take(from.string("model"), out.model);
  errors.take(from.integer("dimensions", 1, 65'536), out.dimensions);
  errors.take(from.string("query_prefix"), out.query_prefix);
  errors.take(from.string("document_prefix"), out.document_prefix);
  errors.take(from.string("bearer_file"), out.bearer_file);
  errors.take(from.string("authorities"), out.authorities);
  errors.take(from.integer("batch", 1, 2048), out.batch);
  errors.take_time(from, "timeout_ms", out.timeout);
  errors.take_time(from, "query_timeout_ms", out.query_timeout);
  errors.take(from.boolean("secrets_in_the_clear"), out.sends_secrets_in_the_clear);
  if (out.url.empty())
    errors.note(from.wrong("url", "missing; name the service up to /v1, e.g. url = \"http://localhost:11434/v1\""));
  if (!out.url.empty() && !is_web_url(out.url))
    errors.note(
        from.wrong("url", "\"" + out.url + "\" is not the URL of a service; write one like \"http://localhost:11434/v1\""));
  if (out.model.empty()) errors.note(from.wrong("model", "missing; name the model as the service calls it"));
  make_absolute(from, "bearer_file", out.bearer_file, errors);
  make_absolute(from, "authorities", out.authorities, errors);
  errors.check(from.finish());
  return out;
}

auto parts_of(const embedding_options& of) {
  return std::tie(of.url, of.model, of.dimensions, of.query_prefix, of.document_prefix, of.bearer_file, of.authorities,
                  of.batch, of.timeout, of.query_timeout, of.sends_secrets_in_the_clear);
}

auto parts_of(const search_options& of) {
  return std::tie(of.path, of.postgres, of.postgres_schema, of.include, of.exclude, of.largest, of.most_passages, of.interval,
                  of.words, of.dictionary);
}

}  // namespace

result<search_options> read_search(section from) {
  search_options out;
  collector errors;
  std::string words = "auto";
  auto interval = out.interval.count();
  errors.take(from.string("path"), out.path);
  errors.take(from.string("postgres"), out.postgres);
  errors.take(from.string("postgres_schema"), out.postgres_schema);
  take_prefixes(from, "include", out.include, errors);
  take_prefixes(from, "exclude", out.exclude, errors);
  errors.take(from.bytes("largest"), out.largest);
  errors.take(from.integer("most_passages", 1, 100'000'000), out.most_passages);
  errors.take(from.integer("interval_ms", 100, longest_interval), interval);
  errors.take(from.string("words"), words);
  errors.take(from.string("dictionary"), out.dictionary);
  std::optional<section> embeddings;
  errors.take(from.subsection("embeddings"), embeddings);
  if (embeddings) out.embeddings = read_embeddings(std::move(*embeddings), errors);
  if (!out.path.empty() && out.path.ends_with('/'))
    errors.note(from.wrong("path", "expected the path of a file, e.g. path = \"/var/lib/hondana/search.db\""));
  if (!out.path.empty() && !out.postgres.empty())
    errors.note(from.wrong("postgres", "the index is stored in a file or in PostgreSQL; remove this key or path"));
  if (out.largest < 1024 || out.largest > largest_text) errors.note(from.wrong("largest", "expected 1KiB to 1GiB"));
  if (words == "mecab") {
    out.words = word_cutting::mecab;
  } else if (words == "trigrams") {
    out.words = word_cutting::trigrams;
  } else if (words != "auto") {
    errors.note(from.wrong("words", "expected \"auto\" (MeCab if installed), \"mecab\" or \"trigrams\""));
  }
  make_absolute(from, "path", out.path, errors);
  make_absolute(from, "dictionary", out.dictionary, errors);
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  out.interval = std::chrono::milliseconds(interval);
  return out;
}

bool says_the_same(const std::optional<search_options>& one, const std::optional<search_options>& other) {
  if (!one || !other) return one.has_value() == other.has_value();
  if (one->embeddings.has_value() != other->embeddings.has_value()) return false;
  if (one->embeddings && parts_of(*one->embeddings) != parts_of(*other->embeddings)) return false;
  return parts_of(*one) == parts_of(*other);
}

}  // namespace hondana::config
