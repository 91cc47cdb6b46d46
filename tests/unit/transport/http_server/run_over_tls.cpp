/// Runs of these tests whose servers all speak TLS.
#include "unit/transport/http_server/run_over_tls.hpp"

#include <cstdlib>
#include <mutex>
#include <set>

#include "unit/transport/tls/certificates.hpp"

namespace hondana_test {
namespace {

struct ports {
  std::mutex mutex;
  std::set<std::uint16_t> all;
};

ports& known() {
  static ports one;
  return one;
}

}  // namespace

const std::optional<hondana::tls_options>& tls_of_this_run() {
  static const pem_folder folder;
  static const std::optional<hondana::tls_options> made = []() -> std::optional<hondana::tls_options> {
    if (std::getenv("HONDANA_TEST_TLS") == nullptr) return std::nullopt;
    const issued own;
    return hondana::tls_options{
        folder.write("certificate.pem", own.certificate_text()), folder.write("key.pem", own.key_text()), {}, false};
  }();
  return made;
}

void speaks_tls(std::uint16_t port, bool does) {
  const std::lock_guard lock(known().mutex);
  if (does) {
    known().all.insert(port);
  } else {
    known().all.erase(port);
  }
}

bool speaks_tls(std::uint16_t port) {
  const std::lock_guard lock(known().mutex);
  return known().all.contains(port);
}

}  // namespace hondana_test
