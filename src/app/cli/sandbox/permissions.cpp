/// Permissions that a server needs while it serves, and checks of the folders it writes to.
#include "app/cli/sandbox/permissions.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "app/cli/callers/authenticators.hpp"
#include "app/otlp/exporter.hpp"
#include "base/uri/web_url.hpp"
#include "protocol/model/provider_extensions.hpp"
#include "search/index/index_location.hpp"

namespace hondana::cli {
namespace {

namespace fs = std::filesystem;

/// Folders that all programs of a machine use. Top-level folders are checked separately.
constexpr std::array<std::string_view, 7> common_folders{"/var/cache", "/var/lib",   "/var/log",      "/var/spool",
                                                         "/var/tmp",   "/usr/local", "/usr/local/etc"};

/// A file that the server writes, along with others in the same folder.
struct written_file {
  fs::path path{};
  const char* label = "";           ///< Such as "audit log".
  const char* example_folder = "";  ///< An example of a dedicated folder for it, used in messages.
  bool shares_folder = false;       ///< May share its folder with other written files that allow the same.
  std::function<failure(std::string_view)> make_error{};
};

/// The home folder that contains `folder`; empty if it is not below a usual place of home folders.
std::string containing_home(std::string_view folder) {
  constexpr std::string_view homes = "/home/";
  if (folder.starts_with(homes)) return std::string(folder.substr(0, folder.find('/', homes.size())));
  return folder.starts_with("/root/") ? "/root" : "";
}

/// Whether `inner` is `outer` or lies below it.
bool contains_path(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
}

/// Whether the folder contains or is a home folder, or one that all programs of a user share.
bool covers_home(std::string_view folder, const std::string& home) {
  if (home.size() < 2) return false;
  return contains_path(folder, home) || contains_path(folder, home + "/.config") ||
         contains_path(folder, home + "/.local/share") || contains_path(folder, home + "/.cache");
}

std::vector<written_file> written_files(const config::settings& settings) {
  std::vector<written_file> files;
  const auto error_for = [&settings](const char* key) {
    return [&settings, key](std::string_view reason) { return settings.error_at(key, reason); };
  };
  if (settings.audit) files.push_back({settings.audit->path, "audit log", "/var/log/hondana", false, error_for("audit.path")});
  if (settings.search && settings.search->path)
    files.push_back({*settings.search->path, "index", "/var/lib/hondana", true, error_for("search.path")});
  for (const auto& source : settings.sources) {
    if (source.type != "metrics") continue;
    auto table = source.options;  // reading marks a key as known
    const auto store = table.string("store");
    if (!store || !*store || (*store)->empty() || **store == ":memory:") continue;
    std::error_code problem;
    auto path = fs::absolute(table.resolve_path(**store), problem).lexically_normal();
    if (problem) continue;
    files.push_back({std::move(path), "store", "/var/lib/hondana", true,
                     [&source](std::string_view reason) { return source.options.error_at("store", reason); }});
  }
  return files;
}

/// Explains a conflict between a written folder and served or needed files; empty: there is none.
std::string find_conflict(const std::string& folder, const written_file& written, const std::vector<written_file>& others,
                          const server_parts& parts) {
  for (const auto& provider : parts.providers) {
    const auto* const owner = dynamic_cast<const model::private_folder_owner*>(provider.get());
    const auto private_folders = owner == nullptr ? std::vector<std::string>() : owner->private_folders();
    for (const auto& required : provider->requirements().folders) {
      const auto real = resolve_links(required.path);
      if (required.is_writable) continue;  // the program's own writable folder
      if (contains_path(folder, real))
        return "its folder " + folder + " contains " + required.path + ", which is served or used";
      // A private folder, such as one with a key, is not served, and files written below it do not affect the key.
      if (std::find(private_folders.begin(), private_folders.end(), required.path) != private_folders.end()) continue;
      if (contains_path(real, folder)) return "its folder " + folder + " is in " + required.path + ", which is served";
    }
  }
  for (const auto& own_file : parts.own_files) {
    const auto is_same_file = [&own_file](const written_file& file) {
      return file.shares_folder &&
             (own_file == file.path || own_file == resolve_links(file.path.string()) ||
              own_file == fs::path(resolve_links(file.path.parent_path().string())) / file.path.filename());
    };
    if (written.shares_folder && std::any_of(others.begin(), others.end(), is_same_file)) continue;
    std::error_code problem;
    if (contains_path(folder, own_file) && fs::exists(own_file, problem))
      return "its folder " + folder + " contains " + own_file + ", which the server needs";
  }
  return {};
}

/// A warning, or no value.
result<std::optional<std::string>> check_written_file(const written_file& file, const std::vector<written_file>& files,
                                                      const server_parts& parts) {
  const auto folder = file.path.parent_path();
  const auto name = file.path.filename();
  const std::string label(file.label);
  const bool is_confined = parts.settings.sandbox.mode != config::sandbox_mode::off;
  const auto real = resolve_links(folder.string());
  if (is_confined && is_shared_folder(real, environment_variable("HOME"))) {
    return tl::unexpected(file.make_error("the sandbox would have to leave all of " + folder.string() + " writable; give the " +
                                          label + " a folder of its own, such as " + (folder / "hondana" / name).string()));
  }
  const auto conflict = find_conflict(real, file, files, parts);
  if (conflict.empty()) return std::nullopt;
  auto error = file.make_error(conflict + "; a process that may write the " + label + " could change it too. Give the " +
                               label + " a folder of its own outside of the served folders, such as " +
                               (fs::path(file.example_folder) / name).string());
  if (!is_confined) return std::move(error.public_text);
  return tl::unexpected(std::move(error));
}

}  // namespace

std::string resolve_links(const std::string& path) {
  std::error_code problem;
  auto real = fs::weakly_canonical(path, problem);
  return problem ? path : real.string();
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_shared_folder(std::string_view folder, std::string_view home) {
  if (std::count(folder.begin(), folder.end(), '/') < 2) return true;
  if (std::find(common_folders.begin(), common_folders.end(), folder) != common_folders.end()) return true;
  return covers_home(folder, std::string(home)) || covers_home(folder, containing_home(folder));
}

std::string audit_folder(const config::settings& settings) {
  return settings.audit ? fs::path(settings.audit->path).parent_path().string() : std::string();
}

result<std::vector<std::string>> check_written_folders(const server_parts& parts) {
  const auto files = written_files(parts.settings);
  std::vector<std::string> warnings;
  for (const auto& file : files) {
    HONDANA_TRY(auto checked, check_written_file(file, files, parts));
    if (checked) warnings.push_back(std::move(*checked));
  }
  return warnings;
}

namespace {

using sandbox::access;
namespace fs = std::filesystem;

constexpr std::uint16_t dns_port = 53;

/// Paths that the C library, TLS, libmagic and the loader open when needed. Missing ones are skipped.
constexpr std::array system_files{"/usr",
                                  "/lib",
                                  "/lib64",
                                  "/etc/ld.so.cache",
                                  "/etc/localtime",
                                  "/etc/hosts",
                                  "/etc/host.conf",
                                  "/etc/nsswitch.conf",
                                  "/etc/gai.conf",
                                  "/etc/services",
                                  "/etc/protocols",
                                  "/etc/passwd",
                                  "/etc/group",
                                  "/etc/machine-id",
                                  "/etc/magic",
                                  "/etc/ssl/certs",
                                  "/etc/ssl/openssl.cnf",
                                  "/etc/pki/tls/certs",
                                  "/etc/pki/ca-trust/extracted",
                                  "/sys/devices/system/cpu",
                                  "/dev/urandom",
                                  "/dev/random"};
/// Environment variables that name further paths.
constexpr std::array system_variables{"SSL_CERT_FILE", "SSL_CERT_DIR", "OPENSSL_CONF"};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif
#else
constexpr bool is_sanitized = false;
#endif

class permission_collector {
 public:
  explicit permission_collector(sandbox::permissions& permissions)
      : permissions_(permissions), home_(environment_variable("HOME")) {}

  void add(const std::string& path, access mode) {
    if (!path.empty()) permissions_.paths.push_back({path, mode});
  }
  /// Adds a file that is read again. Includes its folder, so that a file renamed over it stays readable, and does the same for
  /// the target of a link.
  void add_file(const std::string& path) {
    if (path.empty()) return;
    std::error_code problem;
    const auto absolute_path = fs::absolute(path, problem).lexically_normal().string();
    if (problem) return;
    const auto real = resolve_links(absolute_path);
    add(real, access::read);
    for (const auto& candidate : {absolute_path, real}) {
      const auto folder = fs::path(candidate).parent_path().string();
      if (!is_shared_folder(resolve_links(folder), home_)) add(folder, access::read_named);
    }
  }
  /// Adds a folder or a file.
  void add_required(const system_requirements::folder& folder) {
    std::error_code problem;
    if (folder.is_writable || fs::is_directory(folder.path, problem)) {
      add(folder.path, folder.is_writable ? access::write : access::read);
    } else {
      add_file(folder.path);
    }
  }
  void add_socket(const std::string& path) {
    std::error_code problem;
    if (const auto absolute_path = fs::absolute(path, problem); !problem)
      add(absolute_path.parent_path().string(), access::listen);
  }

 private:
  sandbox::permissions& permissions_;
  const std::string home_;
};

void add_listening(const http_options& http, sandbox::permissions& permissions, permission_collector& collector) {
  if (http.tls) {
    collector.add_file(http.tls->certificate_file);
    collector.add_file(http.tls->key_file);
    if (http.tls->client_ca_file) collector.add_file(*http.tls->client_ca_file);
  }
  if (http.inherited_sockets.empty()) {
    if (!http.socket_path) {
      permissions.listen_ports.push_back(http.port);
    } else {
      collector.add_socket(*http.socket_path);
      permissions.changes_file_modes = http.socket_mode != http_options().socket_mode || http.socket_group;
    }
  }
  if (!http.admin_address || http.inherited_admin_socket) return;
  if (http.admin_address->starts_with('/')) {
    collector.add_socket(*http.admin_address);
  } else if (const auto address = uri::parse_host_port(*http.admin_address); address && address->port) {
    permissions.listen_ports.push_back(*address->port);
  }
}

void add_authentication(const config::auth_settings& auth, const std::string& token_file, sandbox::permissions& permissions,
                        permission_collector& collector) {
  for (const auto& file : {token_file, auth.token_file}) collector.add_file(file);
  if (auth.is_present && token_file.empty() && auth.token_file.empty()) collector.add_file(default_token_file());
  if (!auth.oauth) return;
  collector.add_file(auth.oauth->ca_file);
  if (auth.oauth->introspection) collector.add_file(auth.oauth->introspection->secret_file);
  // The issuer names the server of its keys at run time, so any port must be allowed.
  permissions.connect_ports.reset();
}

}  // namespace

void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& ports) {
  for (const auto& socket : sockets) {
    if (!ports) return;
    if (socket == "*:*") {
      ports.reset();
    } else if (const auto address = uri::parse_host_port(socket); address && address->port) {
      ports->push_back(*address->port);
      ports->push_back(dns_port);  // name servers send long answers over TCP
    }
  }
}

sandbox::permissions make_permissions(const server_parts& parts, const serving_context& context) {
  sandbox::permissions permissions;
  permission_collector collector(permissions);
  for (const auto* file : system_files) collector.add(file, access::read);
  for (const auto* variable : system_variables) collector.add(environment_variable(variable), access::read);
  collector.add_file("/etc/resolv.conf");
  collector.add("/dev/null", access::use_device);
  if (is_sanitized) collector.add("/proc", access::read);
  collector.add_file(context.config_file);
  if (context.http != nullptr) {
    add_listening(*context.http, permissions, collector);
    add_authentication(parts.settings.auth, context.token_file, permissions, collector);
  }
  for (const auto& provider : parts.providers) {
    const auto requirements = provider->requirements();
    for (const auto& folder : requirements.folders) collector.add_required(folder);
    add_ports(requirements.sockets, permissions.connect_ports);
    // The keyring that stores logins may listen on an abstract socket.
    if (!requirements.sockets.empty()) permissions.allows_abstract_sockets = true;
  }
  if (const auto& tracing = parts.settings.tracing) {
    if (const auto requirements = otlp::requirements_of(*tracing)) {
      for (const auto& folder : requirements->folders) collector.add_required(folder);
      add_ports(requirements->sockets, permissions.connect_ports);
    }
  }
  if (const auto& search = parts.settings.search) {
    if (const auto requirements = search::needs_of(*search)) {
      for (const auto& folder : requirements->folders) collector.add_required(folder);
      add_ports(requirements->sockets, permissions.connect_ports);
    }
  }
  // The audit log is rotated by rename. Its lock file and cut-off records are in the same folder.
  collector.add(audit_folder(parts.settings), access::write);
  for (const auto& folder : parts.settings.sandbox.folders) collector.add(folder, access::read);
  return permissions;
}

}  // namespace hondana::cli
