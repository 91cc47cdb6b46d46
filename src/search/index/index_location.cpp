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
constexpr const char* mecab_paths[]{"/etc/mecabrc", "/var/lib/mecab", "/etc/alternatives"};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Splits a list at commas and decodes percent escapes.
std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    auto decoded = percent_decode(list.substr(begin, end - begin));
    out.push_back(decoded ? std::move(*decoded) : std::string(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return out;
}

/// Hosts, ports and files from a libpq URL. The parameters `host=` and `port=` override those of the authority.
struct postgres_url_parts {
  std::vector<std::string> hosts{};
  std::vector<std::string> ports{};
  std::vector<std::string> files{};
};

postgres_url_parts parse_postgres_url(const std::string& url) {
  static constexpr std::string_view file_parameters[]{"passfile", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslcrldir"};
  postgres_url_parts out;
  const auto parts = split_uri(url);
  auto authority = std::string(parts.authority.value_or(""));
  authority.erase(0, authority.rfind('@') + 1);  // npos + 1 is 0: removes nothing if there is no user
  for (const auto& entry : split_list(authority)) {
    const auto host_port = uri::parse_host_port(entry);
    const auto colon = host_port ? (host_port->port ? entry.rfind(':') : std::string::npos) : entry.find(':');
    out.hosts.push_back(entry.substr(0, colon));
    out.ports.push_back(colon == std::string::npos ? std::string() : entry.substr(colon + 1));
  }
  const std::string query(parts.query.value_or(""));
  std::string address;
  for (std::size_t begin = 0; begin < query.size();) {
    const auto end = std::min(query.find('&', begin), query.size());
    const auto parameter = std::string_view(query).substr(begin, end - begin);
    begin = end + 1;
    const auto equals = parameter.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = parameter.substr(0, equals);
    const auto value = parameter.substr(equals + 1);
    if (name == "host") out.hosts = split_list(value);
    if (name == "hostaddr") address = value;
    if (name == "port") out.ports = split_list(value);
    if (std::find(std::begin(file_parameters), std::end(file_parameters), name) == std::end(file_parameters)) continue;
    for (auto& file : split_list(value)) {
      if (file.starts_with('/')) out.files.push_back(std::move(file));
    }
  }
  if (address.empty() && out.hosts == std::vector<std::string>{""}) address = variable("PGHOSTADDR");
  if (address.empty() && out.hosts == std::vector<std::string>{""}) address = variable("PGHOST");
  if (!address.empty()) out.hosts = split_list(address);
  if (out.ports == std::vector<std::string>{""}) out.ports = {variable("PGPORT")};
  return out;
}

/// Adds the server's addresses like libpq. Without a host, the server is behind a Unix socket of this machine. A host that
/// begins with a slash is the folder of a socket.
void add_postgres(const std::string& url, system_requirements& target) {
  const auto parts = parse_postgres_url(url);
  for (std::size_t i = 0; i < parts.hosts.size(); ++i) {
    const auto& host = parts.hosts[i];
    auto port = parts.ports.empty() ? std::string() : parts.ports[std::min(i, parts.ports.size() - 1)];
    if (port.empty()) port = "5432";
    if (host.empty()) {
      for (const auto* folder : {"/var/run/postgresql", "/tmp"})
        target.sockets.push_back(std::string(folder) + "/.s.PGSQL." + port);
    } else if (host.front() == '/' || host.front() == '@') {
      target.sockets.push_back(host + "/.s.PGSQL." + port);
    } else {
      const bool is_bare = host.find(':') != std::string::npos && host.front() != '[';
      target.sockets.push_back((is_bare ? '[' + host + ']' : host) + ':' + port);
    }
  }
  for (auto& path : postgres_files(url)) target.folders.push_back({std::move(path), false});
}

}  // namespace

std::vector<std::string> postgres_files(const std::string& url) {
  auto files = parse_postgres_url(url).files;
  for (const auto* name : {"PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT", "PGSSLCERT", "PGSSLKEY", "PGSSLCRL"}) {
    if (auto file = variable(name); file.starts_with('/')) files.push_back(std::move(file));
  }
  if (const auto home = variable("HOME"); !home.empty()) {
    files.push_back(home + "/.pgpass");
    files.push_back(home + "/.pg_service.conf");
    files.push_back(home + "/.postgresql");
  }
  return files;
}

result<system_requirements> needs_of(const search_options& options) {
  system_requirements out;
  if (options.path) out.folders.push_back({std::filesystem::path(*options.path).parent_path().string(), true});
  if (options.postgres_url) add_postgres(*options.postgres_url, out);
  if (options.tokenizer != tokenizer_kind::trigrams) {
    for (const auto* path : mecab_paths) out.folders.push_back({path, false});
    if (options.dictionary) out.folders.push_back({*options.dictionary, false});
  }
  if (options.embeddings) {
    endpoint::settings settings;
    settings.url = options.embeddings->url;
    settings.bearer_file = options.embeddings->bearer_file.value_or(std::string());
    settings.ca_file = options.embeddings->ca_file.value_or(std::string());
    settings.allows_plaintext_secrets = options.embeddings->allows_cleartext_token;
    auto service = endpoint::endpoint::create(std::move(settings));
    if (!service)
      return tl::unexpected(
          failure{service.error().code, "embeddings: " + service.error().public_text, service.error().private_text});
    out.sockets.push_back((*service)->address());
    for (auto& file : (*service)->files()) out.folders.push_back({std::move(file), false});
  }
  return out;
}

result<void> make_folder_for(const search_options& options) {
  if (!options.path) return {};
  const auto folder = std::filesystem::path(*options.path).parent_path();
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (!error) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  if (error)
    return fail(errc::source_unavailable,
                "cannot store the search index in " + *options.path + ": its folder cannot be created", error.message());
  return {};
}

result<std::optional<stored_index>> inspect_stored(const search_options& options) {
  if (options.path) return inspect_embedded(*options.path);
  if (options.postgres_url) return inspect_postgres(*options.postgres_url, options.postgres_schema);
  return std::nullopt;
}

result<void> reject_foreign(const search_options& options) {
  return options.path ? sqlite::reject_foreign_file(*options.path, index_file_kind) : result<void>();
}

}  // namespace hondana::search
