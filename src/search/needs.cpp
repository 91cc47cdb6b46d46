/// Folders and addresses of an index.
#include "search/needs.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "endpoint/endpoint.hpp"

namespace hondana::search {
namespace {

/// Where Debian's MeCab finds its settings and dictionaries, besides `/usr`.
constexpr const char* folders_of_mecab[]{"/etc/mecabrc", "/var/lib/mecab", "/etc/alternatives"};

}  // namespace

result<needs> needs_of(const search_options& options) {
  needs out;
  if (!options.path.empty()) out.folders.push_back({std::filesystem::path(options.path).parent_path().string(), true});
  if (options.words != word_cutting::trigrams) {
    for (const auto* one : folders_of_mecab) out.folders.push_back({one, false});
    if (!options.dictionary.empty()) out.folders.push_back({options.dictionary, false});
  }
  if (options.embeddings) {
    endpoint::settings at;
    at.url = options.embeddings->url;
    at.bearer_file = options.embeddings->bearer_file;
    at.authorities = options.embeddings->authorities;
    at.sends_secrets_in_the_clear = options.embeddings->sends_secrets_in_the_clear;
    auto service = endpoint::endpoint::of(std::move(at));
    if (!service)
      return tl::unexpected(
          failure{service.error().code, "embeddings: " + service.error().public_text, service.error().private_text});
    out.sockets.push_back((*service)->place());
    for (auto& one : (*service)->files()) out.folders.push_back({std::move(one), false});
  }
  return out;
}

}  // namespace hondana::search
