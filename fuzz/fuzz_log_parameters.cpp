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
  const auto written = to_uri(*at);
  if (written.size() > hondana::max_uri_bytes) return;
  check(hondana::canonical_uri(written).value() == written);
  const auto again = parse_address(written, now + 1);
  check(again.has_value());
  check(!again->is_relative && to_uri(*again) == written);
  check(again->query.grep == at->query.grep && again->query.fields == at->query.fields &&
        again->query.since == at->query.since);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_address(text);
  if (const auto at = hondana::logs::parse_moment("since", text, now);
      at && at->time >= 0 && at->time < 253'402'300'800'000'000) {
    const auto again = hondana::logs::parse_moment("since", hondana::logs::format_time(at->time), now);
    check(again && again->time == at->time);
  }
  std::string sound;
  hondana::json::append_replacing(sound, text);
  const auto pattern = hondana::logs::make_template(sound);
  check(pattern.size() <= hondana::logs::max_template_bytes && hondana::json::is_utf8(pattern));
  check(pattern.find('\n') == std::string::npos);
  const auto timed = hondana::logs::make_template(sound, sound.size() / 4, sound.size() / 2);
  check(timed.size() <= hondana::logs::max_template_bytes && hondana::json::is_utf8(timed));
  return 0;
}
