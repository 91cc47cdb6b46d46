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

tl::unexpected<failure> wrong_key(const config::settings& in, const std::string& key, const std::string& what) {
  return tl::unexpected(in.wrong("search." + key, what));
}

/// The nearest existing folder above the file; "" if something else than a folder is in the way.
std::string nearest_folder(const std::string& file) {
  std::error_code problem;
  for (auto at = fs::path(file).parent_path(); !at.empty(); at = at.parent_path()) {
    if (fs::is_directory(at, problem)) return at.string();
    if (fs::exists(fs::symlink_status(at, problem)) || at == at.parent_path()) return {};
  }
  return {};
}

result<void> check_place(const config::settings& in) {
  const auto& path = in.search->path;
  if (path.empty()) return {};
  std::error_code problem;
  if (fs::is_directory(path, problem))
    return wrong_key(in, "path", "\"" + path + "\" is a folder; name the file of the index, such as " + path + "/search.db");
  const auto folder = nearest_folder(path);
  if (folder.empty()) return wrong_key(in, "path", "the folder of \"" + path + "\" cannot be created: a file is in its place");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return wrong_key(in, "path", "the index cannot be stored there: this user may not write in " + folder);
  if (fs::exists(path, problem) && ::access(path.c_str(), R_OK | W_OK) != 0)
    return wrong_key(in, "path", "\"" + path + "\" exists, but this user may not read and write it");
  if (const auto ours = search::refuse_foreign(*in.search); !ours) return wrong_key(in, "path", ours.error().public_text);
  return {};
}

result<void> check_words(const config::settings& in, const search_options& how) {
  if (how.words == word_cutting::trigrams) return {};
  std::error_code problem;
  if (!how.dictionary.empty() && !fs::is_directory(how.dictionary, problem))
    return wrong_key(in, "dictionary",
                     "the folder \"" + how.dictionary + "\" does not exist. Remove the key to use MeCab's default dictionary");
  // Check a dictionary that is named even if MeCab is not required.
  if (how.words != word_cutting::mecab && how.dictionary.empty()) return {};
  const auto made = tokenizer::words_by_mecab(how.dictionary);
  if (made) return {};
  return wrong_key(in, how.dictionary.empty() ? "words" : "dictionary", made.error().public_text);
}

result<void> check_readable(const config::settings& in, const std::string& key, const std::string& path) {
  if (path.empty() || ::access(path.c_str(), R_OK) == 0) return {};
  return wrong_key(in, "embeddings." + key, "\"" + path + "\" does not exist, or this user may not read it");
}

}  // namespace

result<void> check_search(const config::settings& of) {
  if (!of.search) return {};
  const auto& how = *of.search;
  HONDANA_TRY(check_place(of));
  HONDANA_TRY(check_words(of, how));
  if (how.embeddings) {
    HONDANA_TRY(check_readable(of, "bearer_file", how.embeddings->bearer_file));
    HONDANA_TRY(check_readable(of, "authorities", how.embeddings->authorities));
  }
  if (const auto needs = search::needs_of(how); !needs) return wrong_key(of, "embeddings.url", needs.error().public_text);
  return {};
}

void print_words_of_index(const config::settings& of, bool as_json) {
  if (!of.search) return;
  std::string by;
  std::string lacks;
  if (of.search->words == word_cutting::trigrams) {
    by = tokenizer::words_by_trigrams()->description();
  } else if (const auto made = tokenizer::words_by_mecab(of.search->dictionary)) {
    by = (*made)->description();
  } else {
    by = tokenizer::words_by_trigrams()->description();
    lacks = made.error().public_text;
  }
  if (!as_json) {
    print("  words by " + visible(by) + '\n');
    if (!lacks.empty()) print("  Japanese text is indexed by runs of three characters, because " + visible(lacks) + '\n');
    return;
  }
  std::string line;
  json::writer to(line);
  to.begin_object().key("words").begin_object().member("by", by).member_if("lacks", lacks).end_object().end_object();
  print_json(line);
}

namespace {

bool may_be_served(const std::string& prefix, const std::vector<std::string>& claims) {
  return std::any_of(claims.begin(), claims.end(), [&prefix](const std::string& claim) {
    return claim.starts_with(prefix) || covers(claim, prefix) || prefix == claim + '/';
  });
}

constexpr const char* outcome_of_include = "nothing is indexed by it";
constexpr const char* outcome_of_exclude = "it leaves nothing out";

/// Length of the common prefix, in bytes.
std::size_t common_beginning(std::string_view one, std::string_view other) {
  const auto least = std::min(one.size(), other.size());
  const auto end = std::mismatch(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(least), other.begin());
  return static_cast<std::size_t>(end.first - one.begin());
}

/// Whether the rule lets a caller other than "local" read search state and results, regardless of other rules.
bool opens_search(const access_rule& rule) {
  const auto is_of_search = [](const std::string& kind) { return kind == "state" || kind == "results"; };
  if (rule.gives < grant::read || rule.audience) return false;
  if (!rule.kinds.empty() && std::none_of(rule.kinds.begin(), rule.kinds.end(), is_of_search)) return false;
  const auto compiled = hondana::access::rule::make(rule, 1);
  if (!compiled || !compiled->is_about_uri(search::search_uri)) return false;
  const auto is_local = [](const std::string& one) { return one == "local"; };
  const bool is_for_local_alone =
      !rule.identities.empty() && std::all_of(rule.identities.begin(), rule.identities.end(), is_local);
  return !is_for_local_alone;
}

}  // namespace

std::vector<std::string> warnings_of_search(const config::settings& of, const std::vector<std::shared_ptr<provider>>& sources) {
  std::vector<std::string> out;
  if (!of.search) return out;
  std::vector<std::string> claims;
  std::string served;
  for (const auto& source : sources) {
    for (auto& claim : source->claims()) {
      served += (served.empty() ? "" : ", ") + claim;
      claims.push_back(std::move(claim));
    }
  }
  const auto look = [&](const char* key, const std::vector<std::string>& prefixes, const char* outcome) {
    for (const auto& one : prefixes) {
      if (may_be_served(one, claims)) continue;
      out.push_back(of.wrong(std::string("search.") + key,
                             one + " is not below any source, so " + outcome + "; the sources serve " + served)
                        .public_text);
    }
  };
  look("include", of.search->include, outcome_of_include);
  look("exclude", of.search->exclude, outcome_of_exclude);
  const auto& rules = of.access.rules;
  if (!rules.empty() && std::none_of(rules.begin(), rules.end(), opens_search)) {
    out.push_back(
        of.wrong("search", "access rules let only \"local\" read " + std::string(search::search_uri) +
                               ", so other callers cannot wait for a complete index; add an [[access.rule]] with uris = [\"" +
                               std::string(search::search_uri) + "\"] and allow = [\"list\", \"read\"]")
            .public_text);
  }
  return out;
}

prefix_use::prefix_use(const config::settings& of) : settings_(of) {
  if (!of.search) return;
  const auto add = [this](const char* key, const std::vector<std::string>& all, const char* outcome) {
    for (const auto& one : all)
      prefixes_.push_back({std::string("search.") + key, one, outcome, catalog::spellings_of_prefix(one)});
  };
  add("include", of.search->include, outcome_of_include);
  add("exclude", of.search->exclude, outcome_of_exclude);
}

void prefix_use::note(std::string_view uri) {
  for (auto& one : prefixes_) {
    for (const auto& spelled : one.spelled) {
      if (one.is_used) break;
      const auto common = common_beginning(uri, spelled);
      one.is_used = common == spelled.size();
      const bool is_nearer = common > one.common || (common == one.common && uri.size() < one.nearest.size());
      if (!is_nearer || common <= uri.find(':')) continue;
      one.common = common;
      one.nearest = uri;
    }
  }
}

void prefix_use::end(const provider& source, bool is_complete) {
  const auto claims = source.claims();
  for (auto& one : prefixes_) {
    if (!may_be_served(one.written, claims)) continue;
    one.has_source = true;
    one.is_sure = one.is_sure && is_complete;
  }
}

std::vector<std::string> prefix_use::idle() const {
  std::vector<std::string> out;
  for (const auto& one : prefixes_) {
    // Prefixes outside all sources have a warning of their own, see `warnings_of_search`.
    if (one.is_used || !one.has_source || !one.is_sure) continue;
    out.push_back(settings_
                      .wrong(one.key, "no listed resource begins with " + one.written + ", so that " + one.outcome +
                                          (one.nearest.empty() ? "; no similar URI is listed"
                                                               : "; the nearest listed URI is " + one.nearest))
                      .public_text);
  }
  return out;
}

}  // namespace hondana::cli
