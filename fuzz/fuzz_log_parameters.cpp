/// Reads URIs of logs, moments and message templates; what is read is written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/message_templates.hpp"
#include "sources/logs/moment.hpp"

namespace {

constexpr hondana::records::instant now = 1'769'860'800'000'000;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_address(const std::string& text) {
  using namespace hondana::logs;
  const auto canonical = hondana::canonical_uri("log://app/?" + text);
  if (!canonical) return;
  const auto at = parse_address(*canonical, now);
  if (!at) return;
  const auto written = uri_of(*at);
  if (written.size() > hondana::max_uri_bytes) return;
  check(hondana::canonical_uri(written).value() == written);
  const auto again = parse_address(written, now + 1);
  check(again.has_value());
  check(!again->is_relative && uri_of(*again) == written);
  check(again->what.grep == at->what.grep && again->what.fields == at->what.fields && again->what.since == at->what.since);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_address(text);
  if (const auto at = hondana::logs::parse_moment("since", text, now); at && at->at >= 0 && at->at < 253'402'300'800'000'000) {
    const auto again = hondana::logs::parse_moment("since", hondana::logs::text_of(at->at), now);
    check(again && again->at == at->at);
  }
  std::string sound;
  hondana::json::append_replacing(sound, text);
  const auto pattern = hondana::logs::template_of(sound);
  check(pattern.size() <= hondana::logs::longest_template && hondana::json::is_utf8(pattern));
  check(pattern.find('\n') == std::string::npos);
  return 0;
}
