/// Folders and addresses of an index.
#include "search/needs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "endpoint/endpoint.hpp"
#include "uri/host_port.hpp"

namespace hondana::search {
namespace {

/// Where Debian's MeCab finds its settings and dictionaries, besides `/usr`.
constexpr const char* folders_of_mecab[]{"/etc/mecabrc", "/var/lib/mecab", "/etc/alternatives"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// As libpq takes its URLs apart: where no host stands, the server is behind a socket of this machine.
void add_postgres(const std::string& url, needs& to) {
  const auto parts = split_uri(url);
  auto place = std::string(parts.authority.value_or(""));
  place.erase(0, place.rfind('@') + 1);  // nothing, where there is none
  if (place.empty() || place.front() == ':') {
    for (const auto* folder : {"/var/run/postgresql", "/tmp"}) to.sockets.push_back(std::string(folder) + "/.s.PGSQL.5432");
  }
  for (std::size_t begin = 0; begin < place.size();) {
    const auto end = std::min(place.find(',', begin), place.size());
    auto one = place.substr(begin, end - begin);
    const auto host = uri::parse_host_port(one);
    if (host && !host->port) one += ":5432";
    to.sockets.push_back(std::move(one));
    begin = end + 1;
  }
  const auto home = variable("HOME");
  const auto passwords = variable("PGPASSFILE");
  if (!passwords.empty()) to.folders.push_back({passwords, false});
  if (home.empty()) return;
  to.folders.push_back({home + "/.pgpass", false});
  to.folders.push_back({home + "/.postgresql", false});
}

}  // namespace

result<needs> needs_of(const search_options& options) {
  needs out;
  if (!options.path.empty()) out.folders.push_back({std::filesystem::path(options.path).parent_path().string(), true});
  if (!options.postgres.empty()) add_postgres(options.postgres, out);
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

result<void> make_folder_for(const search_options& options) {
  if (options.path.empty()) return {};
  const auto folder = std::filesystem::path(options.path).parent_path();
  std::error_code problem;
  if (std::filesystem::is_directory(folder, problem)) return {};
  std::filesystem::create_directories(folder, problem);
  if (!problem) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, problem);
  if (problem)
    return fail(errc::source_unavailable, "cannot keep the search index in " + options.path + ": its folder cannot be made",
                problem.message());
  return {};
}

}  // namespace hondana::search
