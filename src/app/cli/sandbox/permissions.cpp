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
  const char* what = "";          ///< Such as "audit log".
  const char* usual_folder = "";  ///< An example of a dedicated folder for it, used in messages.
  bool shares_folder = false;     ///< May share its folder with other written files that allow the same.
  std::function<failure(std::string_view)> wrong{};
};

/// The home folder that contains `folder`; empty if it is not below a usual place of home folders.
std::string usual_home(std::string_view folder) {
  constexpr std::string_view homes = "/home/";
  if (folder.starts_with(homes)) return std::string(folder.substr(0, folder.find('/', homes.size())));
  return folder.starts_with("/root/") ? "/root" : "";
}

/// Whether `inner` is `outer` or lies below it.
bool holds(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
}

/// Whether the folder contains or is a home folder, or one that all programs of a user share.
bool is_of_whole_home(std::string_view folder, const std::string& home) {
  if (home.size() < 2) return false;
  return holds(folder, home) || holds(folder, home + "/.config") || holds(folder, home + "/.local/share") ||
         holds(folder, home + "/.cache");
}

std::vector<written_file> written_files(const config::settings& of) {
  std::vector<written_file> all;
  const auto wrong = [&of](const char* key) { return [&of, key](std::string_view why) { return of.wrong(key, why); }; };
  if (of.audit) all.push_back({of.audit->path, "audit log", "/var/log/hondana", false, wrong("audit.path")});
  if (of.search && !of.search->path.empty())
    all.push_back({of.search->path, "index", "/var/lib/hondana", true, wrong("search.path")});
  for (const auto& one : of.sources) {
    if (one.type != "metrics") continue;
    auto table = one.options;  // reading marks a key as known
    const auto written = table.string("store");
    if (!written || !*written || (*written)->empty() || **written == ":memory:") continue;
    std::error_code problem;
    auto path = fs::absolute(table.path_from(**written), problem).lexically_normal();
    if (problem) continue;
    all.push_back({std::move(path), "store", "/var/lib/hondana", true,
                   [&one](std::string_view why) { return one.options.wrong("store", why); }});
  }
  return all;
}

/// Explains a conflict between a written folder and served or needed files; empty: there is none.
std::string what_stands_in(const std::string& folder, const written_file& of, const std::vector<written_file>& others,
                           const parts& whole) {
  for (const auto& one : whole.providers) {
    const auto* const keeper = dynamic_cast<const model::has_private_folders*>(one.get());
    const auto apart = keeper == nullptr ? std::vector<std::string>() : keeper->private_folders();
    for (const auto& needed : one->needs().folders) {
      const auto real = behind_links(needed.path);
      if (needed.writable) continue;  // the program's own writable folder
      if (holds(folder, real)) return "its folder " + folder + " contains " + needed.path + ", which is served or used";
      // A private folder, such as one with a key, is not served, and files written below it do not affect the key.
      if (std::find(apart.begin(), apart.end(), needed.path) != apart.end()) continue;
      if (holds(real, folder)) return "its folder " + folder + " is in " + needed.path + ", which is served";
    }
  }
  for (const auto& one : whole.own) {
    const auto is_one = [&one](const written_file& file) {
      return file.shares_folder && (one == file.path || one == behind_links(file.path.string()) ||
                                    one == fs::path(behind_links(file.path.parent_path().string())) / file.path.filename());
    };
    if (of.shares_folder && std::any_of(others.begin(), others.end(), is_one)) continue;
    std::error_code problem;
    if (holds(folder, one) && fs::exists(one, problem))
      return "its folder " + folder + " contains " + one + ", which the server needs";
  }
  return {};
}

/// A warning, or no value.
result<std::optional<std::string>> check(const written_file& one, const std::vector<written_file>& all, const parts& whole) {
  const auto folder = one.path.parent_path();
  const auto name = one.path.filename();
  const std::string what(one.what);
  const bool is_confined = whole.settings.sandbox.mode != config::sandbox_mode::off;
  const auto real = behind_links(folder.string());
  if (is_confined && is_shared_folder(real, environment_of("HOME"))) {
    return tl::unexpected(one.wrong("the sandbox would have to leave all of " + folder.string() + " writable; give the " +
                                    what + " a folder of its own, such as " + (folder / "hondana" / name).string()));
  }
  const auto why = what_stands_in(real, one, all, whole);
  if (why.empty()) return std::nullopt;
  auto wrong =
      one.wrong(why + "; a process that may write the " + what + " could change it too. Give the " + what +
                " a folder of its own outside of the served folders, such as " + (fs::path(one.usual_folder) / name).string());
  if (!is_confined) return std::move(wrong.public_text);
  return tl::unexpected(std::move(wrong));
}

}  // namespace

std::string behind_links(const std::string& path) {
  std::error_code problem;
  auto real = fs::weakly_canonical(path, problem);
  return problem ? path : real.string();
}

std::string environment_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_shared_folder(std::string_view folder, std::string_view home) {
  if (std::count(folder.begin(), folder.end(), '/') < 2) return true;
  if (std::find(common_folders.begin(), common_folders.end(), folder) != common_folders.end()) return true;
  return is_of_whole_home(folder, std::string(home)) || is_of_whole_home(folder, usual_home(folder));
}

std::string record_folder(const config::settings& of) {
  return of.audit ? fs::path(of.audit->path).parent_path().string() : std::string();
}

result<std::vector<std::string>> check_written_folders(const parts& whole) {
  const auto all = written_files(whole.settings);
  std::vector<std::string> warnings;
  for (const auto& one : all) {
    HONDANA_TRY(auto checked, check(one, all, whole));
    if (checked) warnings.push_back(std::move(*checked));
  }
  return warnings;
}

namespace {

using sandbox::access;
namespace fs = std::filesystem;

constexpr std::uint16_t dns = 53;

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

class collecting {
 public:
  explicit collecting(sandbox::permissions& into) : into_(into), home_(environment_of("HOME")) {}

  void add(const std::string& path, access may) {
    if (!path.empty()) into_.paths.push_back({path, may});
  }
  /// Adds a file that is read again. Includes its folder, so that a file renamed over it stays readable, and does the same for
  /// the target of a link.
  void add_file(const std::string& path) {
    if (path.empty()) return;
    std::error_code problem;
    const auto whole = fs::absolute(path, problem).lexically_normal().string();
    if (problem) return;
    const auto real = behind_links(whole);
    add(real, access::read);
    for (const auto& one : {whole, real}) {
      const auto folder = fs::path(one).parent_path().string();
      if (!is_shared_folder(behind_links(folder), home_)) add(folder, access::read_named);
    }
  }
  /// Adds a folder or a file.
  void add_needed(const needs::folder& one) {
    std::error_code problem;
    if (one.writable || fs::is_directory(one.path, problem)) {
      add(one.path, one.writable ? access::write : access::read);
    } else {
      add_file(one.path);
    }
  }
  void add_socket(const std::string& path) {
    std::error_code problem;
    if (const auto whole = fs::absolute(path, problem); !problem) add(whole.parent_path().string(), access::listen);
  }

 private:
  sandbox::permissions& into_;
  const std::string home_;
};

void add_listening(const http_options& http, sandbox::permissions& into, collecting& paths) {
  for (const auto* file : {&http.tls.certificate, &http.tls.key, &http.tls.client_authorities}) paths.add_file(*file);
  if (http.inherited.empty()) {
    if (http.socket.empty()) {
      into.listens.push_back(http.port);
    } else {
      paths.add_socket(http.socket);
      into.changes_modes = http.socket_mode != http_options().socket_mode || !http.socket_group.empty();
    }
  }
  if (http.admin.empty() || http.inherited_admin >= 0) return;
  if (http.admin.front() == '/') {
    paths.add_socket(http.admin);
  } else if (const auto where = uri::parse_host_port(http.admin); where && where->port) {
    into.listens.push_back(*where->port);
  }
}

void add_callers(const config::auth_settings& auth, const std::string& tokens, sandbox::permissions& into, collecting& paths) {
  for (const auto& file : {tokens, auth.tokens}) paths.add_file(file);
  if (auth.is_given && tokens.empty() && auth.tokens.empty()) paths.add_file(usual_tokens());
  if (!auth.oauth) return;
  paths.add_file(auth.oauth->authorities);
  if (auth.oauth->introspection) paths.add_file(auth.oauth->introspection->secret_file);
  // The issuer names the server of its keys at run time, so any port must be allowed.
  into.connects.reset();
}

}  // namespace

void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& connects) {
  for (const auto& one : sockets) {
    if (!connects) return;
    if (one == "*:*") {
      connects.reset();
    } else if (const auto where = uri::parse_host_port(one); where && where->port) {
      connects->push_back(*where->port);
      connects->push_back(dns);  // name servers send long answers over TCP
    }
  }
}

sandbox::permissions permitted(const parts& whole, const serving_place& at) {
  sandbox::permissions made;
  collecting paths(made);
  for (const auto* one : system_files) paths.add(one, access::read);
  for (const auto* one : system_variables) paths.add(environment_of(one), access::read);
  paths.add_file("/etc/resolv.conf");
  paths.add("/dev/null", access::use_device);
  if (is_sanitized) paths.add("/proc", access::read);
  paths.add_file(at.config);
  if (at.http != nullptr) {
    add_listening(*at.http, made, paths);
    add_callers(whole.settings.auth, at.tokens, made, paths);
  }
  for (const auto& one : whole.providers) {
    const auto needs = one->needs();
    for (const auto& folder : needs.folders) paths.add_needed(folder);
    add_ports(needs.sockets, made.connects);
    // The keyring that stores logins may listen on an abstract socket.
    if (!needs.sockets.empty()) made.abstract_sockets = true;
  }
  if (const auto& tracing = whole.settings.tracing) {
    if (const auto needs = otlp::needs_of(*tracing)) {
      for (const auto& folder : needs->folders) paths.add_needed(folder);
      add_ports(needs->sockets, made.connects);
    }
  }
  if (const auto& search = whole.settings.search) {
    if (const auto needs = search::needs_of(*search)) {
      for (const auto& folder : needs->folders) paths.add_needed(folder);
      add_ports(needs->sockets, made.connects);
    }
  }
  // The audit log is rotated by rename. Its lock file and cut-off records are in the same folder.
  paths.add(record_folder(whole.settings), access::write);
  for (const auto& one : whole.settings.sandbox.folders) paths.add(one, access::read);
  return made;
}

}  // namespace hondana::cli
