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
  if (const auto read = tracing::parse(text)) {
    const auto written = tracing::print(*read);
    if (tracing::parse(written) != read) std::abort();
    if (written.substr(2, 51) != text.substr(2, 51)) std::abort();
    if (tracing::trace_in(text) != tracing::hex(read->trace)) std::abort();
  }
  const auto is_fit = [&text](std::size_t most) {
    return text.size() <= most && text.find_first_of("\r\n\t") == std::string_view::npos;
  };
  if (tracing::is_state(text) && !is_fit(tracing::longest_state)) std::abort();
  if (tracing::is_baggage(text) && !is_fit(tracing::longest_baggage)) std::abort();
  if (otlp::refused_in(text).why.size() > 300) std::abort();
  return 0;
}
