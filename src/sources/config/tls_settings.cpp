/// Reading `[http.tls]`.
#include "sources/config/tls_settings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sources/config/collector.hpp"

namespace hondana::config {
namespace {

void read_path(section& from, std::string_view key, std::string& into, collector& errors) {
  std::optional<std::string> path;
  errors.take(from.string(key), path);
  if (!path) return;
  if (path->empty() || path->find('\0') != std::string::npos)
    return errors.note(from.wrong(key, "expected the path of a PEM file"));
  into = from.path_from(*path);
}

}  // namespace

result<tls_options> read_tls(section from) {
  tls_options made;
  collector errors;
  read_path(from, "certificate", made.certificate, errors);
  read_path(from, "key", made.key, errors);
  read_path(from, "client_authorities", made.client_authorities, errors);
  std::optional<std::string> clients;
  errors.take(from.string("client_certificates"), clients);
  if (clients && *clients != "required" && *clients != "asked")
    errors.note(from.wrong("client_certificates", "expected \"required\" or \"asked\""));
  if (clients && made.client_authorities.empty())
    errors.note(from.wrong("client_certificates", "needs client_authorities, a PEM file with the authorities that sign them"));
  made.needs_client_certificate = !made.client_authorities.empty() && clients != "asked";
  if (made.certificate.empty() != made.key.empty() || (made.certificate.empty() && !made.client_authorities.empty()))
    errors.note(from.wrong(made.certificate.empty() ? "certificate" : "key",
                           "missing; TLS needs certificate and key, the paths of PEM files"));
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
