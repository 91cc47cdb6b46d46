/// Checks of `[search]`: folders, dictionaries and services, and whether the configured prefixes are served.
#include "app/cli/search_checks.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <hondana/access.hpp>
#include <hondana/uri.hpp>

#include "app/cli/output.hpp"
#include "base/json/writer.hpp"
#include "search/index/index_location.hpp"
#include "search/index/search_query.hpp"
#include "server/access/rules.hpp"
#include "server/catalog/list_filter.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<failure> key_error(const config::settings& settings, const std::string& key, const std::string& message) {
  return tl::unexpected(settings.error_at("search." + key, message));
}

/// The nearest existing folder above the file; "" if something else than a folder is in the way.
std::string nearest_folder(const std::string& file) {
  std::error_code problem;
  for (auto folder = fs::path(file).parent_path(); !folder.empty(); folder = folder.parent_path()) {
    if (fs::is_directory(folder, problem)) return folder.string();
    if (fs::exists(fs::symlink_status(folder, problem)) || folder == folder.parent_path()) return {};
  }
  return {};
}

result<void> check_index_path(const config::settings& settings) {
  if (!settings.search->path) return {};
  const auto& path = *settings.search->path;
  std::error_code problem;
  if (fs::is_directory(path, problem))
    return key_error(settings, "path",
                     "\"" + path + "\" is a folder; name the file of the index, such as " + path + "/search.db");
  const auto folder = nearest_folder(path);
  if (folder.empty())
    return key_error(settings, "path", "the folder of \"" + path + "\" cannot be created: a file is in its place");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return key_error(settings, "path", "the index cannot be stored there: this user may not write in " + folder);
  if (fs::exists(path, problem) && ::access(path.c_str(), R_OK | W_OK) != 0)
    return key_error(settings, "path", "\"" + path + "\" exists, but this user may not read and write it");
  if (const auto checked = search::reject_foreign(*settings.search); !checked)
    return key_error(settings, "path", checked.error().public_text);
  return {};
}

result<void> check_tokenizer(const config::settings& settings, const search_options& options) {
  if (options.tokenizer == tokenizer_kind::trigrams) return {};
  std::error_code problem;
  if (options.dictionary && !fs::is_directory(*options.dictionary, problem))
    return key_error(
        settings, "dictionary",
        "the folder \"" + *options.dictionary + "\" does not exist. Remove the key to use MeCab's default dictionary");
  // Check a dictionary that is named even if MeCab is not required.
  if (options.tokenizer != tokenizer_kind::mecab && !options.dictionary) return {};
  const auto mecab = tokenizer::make_mecab_tokenizer(options.dictionary.value_or(std::string()));
  if (mecab) return {};
  return key_error(settings, options.dictionary ? "dictionary" : "tokenizer", mecab.error().public_text);
}

result<void> check_readable(const config::settings& settings, const std::string& key, const std::optional<std::string>& path) {
  if (!path || ::access(path->c_str(), R_OK) == 0) return {};
  return key_error(settings, "embeddings." + key, "\"" + *path + "\" does not exist, or this user may not read it");
}

}  // namespace

result<void> check_search(const config::settings& settings) {
  if (!settings.search) return {};
  const auto& options = *settings.search;
  HONDANA_TRY(check_index_path(settings));
  HONDANA_TRY(check_tokenizer(settings, options));
  if (options.embeddings) {
    HONDANA_TRY(check_readable(settings, "bearer_file", options.embeddings->bearer_file));
    HONDANA_TRY(check_readable(settings, "ca_file", options.embeddings->ca_file));
  }
  if (const auto requirements = search::needs_of(options); !requirements)
    return key_error(settings, "embeddings.url", requirements.error().public_text);
  return {};
}

void print_tokenizer(const config::settings& settings, bool as_json) {
  if (!settings.search) return;
  std::string description;
  std::string mecab_error;
  if (settings.search->tokenizer == tokenizer_kind::trigrams) {
    description = tokenizer::make_trigram_tokenizer()->description();
  } else if (const auto mecab = tokenizer::make_mecab_tokenizer(settings.search->dictionary.value_or(std::string()))) {
    description = (*mecab)->description();
  } else {
    description = tokenizer::make_trigram_tokenizer()->description();
    mecab_error = mecab.error().public_text;
  }
  if (!as_json) {
    print("  words by " + sanitize(description) + '\n');
    if (!mecab_error.empty())
      print("  Japanese text is indexed by runs of three characters, because " + sanitize(mecab_error) + '\n');
    return;
  }
  std::string line;
  json::writer writer(line);
  writer.begin_object()
      .key("tokenizer")
      .begin_object()
      .member("name", description)
      .member_if("error", mecab_error)
      .end_object()
      .end_object();
  print_json(line);
}

namespace {

bool may_be_served(const std::string& prefix, const std::vector<std::string>& claims) {
  return std::any_of(claims.begin(), claims.end(), [&prefix](const std::string& claim) {
    return claim.starts_with(prefix) || uri_covers(claim, prefix) || prefix == claim + '/';
  });
}

constexpr const char* include_effect = "nothing is indexed by it";
constexpr const char* exclude_effect = "it leaves nothing out";

/// Length of the common prefix, in bytes.
std::size_t common_prefix_length(std::string_view left, std::string_view right) {
  const auto shorter = std::min(left.size(), right.size());
  const auto end = std::mismatch(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(shorter), right.begin());
  return static_cast<std::size_t>(end.first - left.begin());
}

/// Whether the rule lets a caller other than "local" read search state and results, regardless of other rules.
bool opens_search(const access_rule& rule) {
  const auto is_of_search = [](const std::string& kind) { return kind == "state" || kind == "results"; };
  if (rule.level < access_level::read || rule.audience) return false;
  if (!rule.kinds.empty() && std::none_of(rule.kinds.begin(), rule.kinds.end(), is_of_search)) return false;
  const auto compiled = hondana::access::rule::make(rule, 1);
  if (!compiled || !compiled->matches_uri(search::search_uri)) return false;
  const auto is_local = [](const std::string& identity) { return identity == "local"; };
  const bool is_for_local_alone =
      !rule.identities.empty() && std::all_of(rule.identities.begin(), rule.identities.end(), is_local);
  return !is_for_local_alone;
}

}  // namespace

std::vector<std::string> search_warnings(const config::settings& settings,
                                         const std::vector<std::shared_ptr<provider>>& sources) {
  std::vector<std::string> out;
  if (!settings.search) return out;
  std::vector<std::string> claims;
  std::string served;
  for (const auto& source : sources) {
    for (auto& claim : source->claims()) {
      served += (served.empty() ? "" : ", ") + claim;
      claims.push_back(std::move(claim));
    }
  }
  const auto check_prefixes = [&](const char* key, const std::vector<std::string>& prefixes, const char* effect) {
    for (const auto& prefix : prefixes) {
      if (may_be_served(prefix, claims)) continue;
      out.push_back(settings
                        .error_at(std::string("search.") + key,
                                  prefix + " is not below any source, so " + effect + "; the sources serve " + served)
                        .public_text);
    }
  };
  check_prefixes("include", settings.search->include, include_effect);
  check_prefixes("exclude", settings.search->exclude, exclude_effect);
  const auto& rules = settings.access.rules;
  if (!rules.empty() && std::none_of(rules.begin(), rules.end(), opens_search)) {
    out.push_back(
        settings
            .error_at("search",
                      "access rules let only \"local\" read " + std::string(search::search_uri) +
                          ", so other callers cannot wait for a complete index; add an [[access.rule]] with uris = [\"" +
                          std::string(search::search_uri) + "\"] and allow = [\"list\", \"read\"]")
            .public_text);
  }
  return out;
}

prefix_usage::prefix_usage(const config::settings& settings) : settings_(settings) {
  if (!settings.search) return;
  const auto add = [this](const char* key, const std::vector<std::string>& prefixes, const char* effect) {
    for (const auto& prefix : prefixes)
      prefixes_.push_back({std::string("search.") + key, prefix, effect, catalog::prefix_forms(prefix)});
  };
  add("include", settings.search->include, include_effect);
  add("exclude", settings.search->exclude, exclude_effect);
}

void prefix_usage::record_uri(std::string_view uri) {
  for (auto& prefix : prefixes_) {
    for (const auto& form : prefix.forms) {
      if (prefix.is_used) break;
      const auto common = common_prefix_length(uri, form);
      prefix.is_used = common == form.size();
      const bool is_nearer =
          common > prefix.common_bytes || (common == prefix.common_bytes && uri.size() < prefix.nearest_uri.size());
      if (!is_nearer || common <= uri.find(':')) continue;
      prefix.common_bytes = common;
      prefix.nearest_uri = uri;
    }
  }
}

void prefix_usage::finish_source(const provider& source, bool is_complete) {
  const auto claims = source.claims();
  for (auto& prefix : prefixes_) {
    if (!may_be_served(prefix.text, claims)) continue;
    prefix.has_source = true;
    prefix.is_fully_listed = prefix.is_fully_listed && is_complete;
  }
}

std::vector<std::string> prefix_usage::unused_warnings() const {
  std::vector<std::string> out;
  for (const auto& prefix : prefixes_) {
    // Prefixes outside all sources have a warning of their own, see `search_warnings`.
    if (prefix.is_used || !prefix.has_source || !prefix.is_fully_listed) continue;
    out.push_back(
        settings_
            .error_at(prefix.key, "no listed resource begins with " + prefix.text + ", so that " + prefix.effect +
                                      (prefix.nearest_uri.empty() ? "; no similar URI is listed"
                                                                  : "; the nearest listed URI is " + prefix.nearest_uri))
            .public_text);
  }
  return out;
}

}  // namespace hondana::cli
