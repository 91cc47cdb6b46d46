/// Collecting paths and ports.
#include "app/cli/sandbox/permitted.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "app/cli/callers/ways.hpp"
#include "app/cli/sandbox/written_folders.hpp"
#include "app/otlp/exporter.hpp"
#include "base/uri/host_port.hpp"
#include "search/index/needs.hpp"

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
