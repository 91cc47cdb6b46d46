/// Naming what is counted of transports.
#include "base/counters/traffic.hpp"

namespace hondana::counters {

traffic& traffic::here() {
  // Never destroyed, as the registry.
  static auto& all = *new traffic;
  return all;
}

traffic::traffic()
    : received_(sums::make({"hondana_received_bytes", kind::counter, "bytes", "Bytes received from peers."},
                           {{"transport", {"stdio", "http"}}})),
      sent_(sums::make({"hondana_sent_bytes", kind::counter, "bytes", "Bytes sent to peers."},
                       {{"transport", {"stdio", "http"}}})) {}

}  // namespace hondana::counters
