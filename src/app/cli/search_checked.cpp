/// Looking, before anything is made.
#include "app/cli/search_checked.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/cli/output.hpp"
#include "app/cli/visible.hpp"
#include "base/json/writer.hpp"
#include "search/index/kept.hpp"
#include "search/index/needs.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<failure> wrong_key(const config::settings& in, const std::string& key, const std::string& what) {
  return tl::unexpected(in.wrong("search." + key, what));
}

/// The folder that there is, of those that an index would lie in; "" where something else is in the way.
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
  // A dictionary that is named is meant.
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

}  // namespace hondana::cli
