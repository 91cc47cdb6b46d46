/// Runs of these tests whose servers all speak TLS.
#pragma once

#include <cstdint>

#include <hondana/tls.hpp>

namespace hondana_test {

/// What servers get in such a run, which the environment's HONDANA_TEST_TLS makes it; nothing in others.
const std::optional<hondana::tls_options>& tls_of_this_run();
/// Clients of this port speak TLS from here on, or no more.
void speaks_tls(std::uint16_t port, bool does);
[[nodiscard]] bool speaks_tls(std::uint16_t port);

}  // namespace hondana_test
