/// Collecting paths and ports.
#include "cli/sandbox/permitted.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "cli/callers/ways.hpp"
#include "otlp/exporter.hpp"
#include "search/needs.hpp"
#include "uri/host_port.hpp"

namespace hondana::cli {
namespace {

using sandbox::access;
namespace fs = std::filesystem;

constexpr std::uint16_t dns = 53;

/// What the C library, TLS, libmagic and the loader open when they are needed; what is not there is passed over.
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
/// Where all programs of a machine have something; those of the first level aside.
constexpr std::array<std::string_view, 7> common_folders{"/var/cache", "/var/lib",   "/var/log",      "/var/spool",
                                                         "/var/tmp",   "/usr/local", "/usr/local/etc"};
/// Variables that name more of them.
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

std::string environment_of(const char* name) {
  const char* value = std::getenv(name);  // read before threads that would change it exist
  return value == nullptr ? "" : value;
}

/// Where a path leads, as far as it is there.
std::string behind_links(const std::string& path) {
  std::error_code problem;
  auto real = fs::weakly_canonical(path, problem);
  return problem ? path : real.string();
}

/// The home folder of somebody, at or above `folder`; empty where that is not the usual place for any.
std::string usual_home(std::string_view folder) {
  constexpr std::string_view homes = "/home/";
  if (folder.starts_with(homes)) return std::string(folder.substr(0, folder.find('/', homes.size())));
  return folder.starts_with("/root/") ? "/root" : "";
}

/// Whether `inner` is `outer` or lies below it.
bool holds(std::string_view outer, std::string_view inner) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || outer.ends_with('/') || inner[outer.size()] == '/');
}

/// At or above a home folder, or what all programs of a user have in it.
bool is_of_whole_home(std::string_view folder, const std::string& home) {
  if (home.size() < 2) return false;
  return holds(folder, home) || holds(folder, home + "/.config") || holds(folder, home + "/.local/share") ||
         holds(folder, home + "/.cache");
}

/// What a folder that is written to has in common with what must not be; empty: nothing.
std::string what_stands_in(const std::string& folder, const parts& whole) {
  for (const auto& one : whole.providers) {
    for (const auto& needed : one->needs().folders) {
      const auto real = behind_links(needed.path);
      if (needed.writable) continue;  // of the program's own making
      if (holds(folder, real)) return "its folder " + folder + " holds " + needed.path + ", which is served or used";
      if (holds(real, folder)) return "its folder " + folder + " lies in " + needed.path + ", which is served";
    }
  }
  for (const auto& one : whole.own) {
    std::error_code problem;
    if (holds(folder, one) && fs::exists(one, problem)) return "its folder " + folder + " holds " + one + ", the server's own";
  }
  return {};
}

class collecting {
 public:
  explicit collecting(sandbox::permissions& into) : into_(into), home_(environment_of("HOME")) {}

  void add(const std::string& path, access may) {
    if (!path.empty()) into_.paths.push_back({path, may});
  }
  /// A file that is read again: its folder, so that another may take its place by rename, also behind links.
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
  /// A folder, or a file.
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
  // Where its keys are, only the issuer says.
  into.connects.reset();
}

}  // namespace

bool is_shared_folder(std::string_view folder, std::string_view home) {
  if (std::count(folder.begin(), folder.end(), '/') < 2) return true;
  if (std::find(common_folders.begin(), common_folders.end(), folder) != common_folders.end()) return true;
  return is_of_whole_home(folder, std::string(home)) || is_of_whole_home(folder, usual_home(folder));
}

std::string record_folder(const config::settings& of) {
  return of.audit ? fs::path(of.audit->path).parent_path().string() : std::string();
}

result<std::optional<std::string>> check_record_folder(const parts& whole) {
  const auto& of = whole.settings;
  const auto folder = record_folder(of);
  if (folder.empty()) return std::nullopt;
  const auto name = fs::path(of.audit->path).filename();
  const bool is_confined = of.sandbox.mode != config::sandbox_mode::off;
  const auto real = behind_links(folder);
  if (is_confined && is_shared_folder(real, environment_of("HOME"))) {
    return tl::unexpected(of.wrong("audit.path", "the sandbox would leave all of " + folder +
                                                     " open for writing; give the record a folder of its own, such as " +
                                                     (fs::path(folder) / "hondana" / name).string()));
  }
  const auto why = what_stands_in(real, whole);
  if (why.empty()) return std::nullopt;
  auto wrong = of.wrong("audit.path", why + "; what may write the record could change that, too. Give the record a folder of " +
                                          "its own outside of what is served, such as " +
                                          (fs::path("/var/log/hondana") / name).string());
  if (!is_confined) return std::move(wrong.public_text);
  return tl::unexpected(std::move(wrong));
}

void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& connects) {
  for (const auto& one : sockets) {
    if (!connects) return;
    if (one == "*:*") {
      connects.reset();
    } else if (const auto where = uri::parse_host_port(one); where && where->port) {
      connects->push_back(*where->port);
      connects->push_back(dns);  // long answers of name servers come by TCP
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
    // The keyring with the log-ins may be behind such a socket.
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
  // It is renamed there when it has grown, and has its lock and what was torn beside it.
  paths.add(record_folder(whole.settings), access::write);
  for (const auto& one : whole.settings.sandbox.folders) paths.add(one, access::read);
  return made;
}

}  // namespace hondana::cli
