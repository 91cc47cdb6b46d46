/// The location of an index: the files and addresses it needs, and a check from outside the server.
#include "search/index/index_location.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/uri/web_url.hpp"
#include "search/index/embedded/embedded_store.hpp"
#include "search/index/embedded/embedded_store_impl.hpp"
#include "search/index/postgres/postgres_store.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::search {
namespace {

/// Where Debian's MeCab stores its settings and dictionaries, in addition to `/usr`.
constexpr const char* folders_of_mecab[]{"/etc/mecabrc", "/var/lib/mecab", "/etc/alternatives"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Splits a list at commas and decodes percent escapes.
std::vector<std::string> listed(std::string_view all) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= all.size();) {
    const auto end = std::min(all.find(',', begin), all.size());
    auto decoded = percent_decode(all.substr(begin, end - begin));
    out.push_back(decoded ? std::move(*decoded) : std::string(all.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

/// Hosts, ports and files from a libpq URL. The parameters `host=` and `port=` override those of the authority.
struct postgres_words {
  std::vector<std::string> hosts{};
  std::vector<std::string> ports{};
  std::vector<std::string> files{};
};

postgres_words words_of_postgres(const std::string& url) {
  static constexpr std::string_view of_files[]{"passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"};
  postgres_words out;
  const auto parts = split_uri(url);
  auto place = std::string(parts.authority.value_or(""));
  place.erase(0, place.rfind('@') + 1);  // npos + 1 is 0: removes nothing if there is no user
  for (const auto& one : listed(place)) {
    const auto both = uri::parse_host_port(one);
    const auto colon = both ? (both->port ? one.rfind(':') : std::string::npos) : one.find(':');
    out.hosts.push_back(one.substr(0, colon));
    out.ports.push_back(colon == std::string::npos ? std::string() : one.substr(colon + 1));
  }
  const std::string query(parts.query.value_or(""));
  std::string address;
  for (std::size_t begin = 0; begin < query.size();) {
    const auto end = std::min(query.find('&', begin), query.size());
    const auto one = std::string_view(query).substr(begin, end - begin);
    begin = end + 1;
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    const auto word = one.substr(0, equals);
    const auto value = one.substr(equals + 1);
    if (word == "host") out.hosts = listed(value);
    if (word == "hostaddr") address = value;
    if (word == "port") out.ports = listed(value);
    if (std::find(std::begin(of_files), std::end(of_files), word) == std::end(of_files)) continue;
    for (auto& file : listed(value)) {
      if (file.starts_with('/')) out.files.push_back(std::move(file));
    }
  }
  if (address.empty() && out.hosts == std::vector<std::string>{""}) address = variable("PGHOSTADDR");
  if (address.empty() && out.hosts == std::vector<std::string>{""}) address = variable("PGHOST");
  if (!address.empty()) out.hosts = listed(address);
  if (out.ports == std::vector<std::string>{""}) out.ports = {variable("PGPORT")};
  return out;
}

/// Adds the server's addresses like libpq. Without a host, the server is behind a Unix socket of this machine. A host that
/// begins with a slash is the folder of a socket.
void add_postgres(const std::string& url, needs& to) {
  const auto said = words_of_postgres(url);
  for (std::size_t i = 0; i < said.hosts.size(); ++i) {
    const auto& host = said.hosts[i];
    auto port = said.ports.empty() ? std::string() : said.ports[std::min(i, said.ports.size() - 1)];
    if (port.empty()) port = "5432";
    if (host.empty()) {
      for (const auto* folder : {"/var/run/postgresql", "/tmp"})
        to.sockets.push_back(std::string(folder) + "/.s.PGSQL." + port);
    } else if (host.front() == '/' || host.front() == '@') {
      to.sockets.push_back(host + "/.s.PGSQL." + port);
    } else {
      const bool is_bare = host.find(':') != std::string::npos && host.front() != '[';
      to.sockets.push_back((is_bare ? '[' + host + ']' : host) + ':' + port);
    }
  }
  for (auto& path : postgres_files(url)) to.folders.push_back({std::move(path), false});
}

}  // namespace

std::vector<std::string> postgres_files(const std::string& url) {
  auto all = words_of_postgres(url).files;
  for (const auto* name : {"PGPASSFILE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY", "PGSSLCRL"}) {
    if (auto file = variable(name); file.starts_with('/')) all.push_back(std::move(file));
  }
  if (const auto home = variable("HOME"); !home.empty()) {
    all.push_back(home + "/.pgpass");
    all.push_back(home + "/.postgresql");
  }
  return all;
}

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
    return fail(errc::source_unavailable, "cannot store the search index in " + options.path + ": its folder cannot be created",
                problem.message());
  return {};
}

result<std::optional<kept_index>> look_at_kept(const search_options& options) {
  if (!options.path.empty()) return look_at_embedded(options.path);
  if (!options.postgres.empty()) return look_at_postgres(options.postgres, options.postgres_schema);
  return std::nullopt;
}

result<void> refuse_foreign(const search_options& options) {
  return options.path.empty() ? result<void>() : sqlite::refuse_foreign(options.path, kind_of_index);
}

}  // namespace hondana::search
