/// Contexts of traces from `_meta`: what is read is written again as it was read, and nothing that is passed on is unfit for
/// it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/otlp/exporter.hpp"
#include "base/tracing/tracing.hpp"

using namespace hondana;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto read = tracing::parse_traceparent(text)) {
    const auto written = tracing::format_traceparent(*read);
    if (tracing::parse_traceparent(written) != read) std::abort();
    if (written.substr(2, 51) != text.substr(2, 51)) std::abort();
    if (tracing::trace_id_in(text) != tracing::to_hex(read->trace)) std::abort();
  }
  const auto is_fit = [&text](std::size_t most) {
    return text.size() <= most && text.find_first_of("\r\n\t") == std::string_view::npos;
  };
  if (tracing::is_tracestate(text) && !is_fit(tracing::max_tracestate_bytes)) std::abort();
  if (tracing::is_baggage(text) && !is_fit(tracing::max_baggage_bytes)) std::abort();
  if (otlp::parse_rejected(text).reason.size() > 300) std::abort();
  return 0;
}
