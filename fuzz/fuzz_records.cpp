/// Lines of logs: times, levels, fields and framing of any bytes, and files of time zones; and what is answered is text, and
/// stays so.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/logs/records/fields.hpp"
#include "sources/logs/records/framing.hpp"
#include "sources/logs/records/masking.hpp"
#include "sources/logs/records/opened_files.hpp"
#include "sources/logs/records/rotated_files.hpp"
#include "sources/logs/records/severity.hpp"
#include "sources/logs/records/time_zone.hpp"
#include "sources/logs/records/timestamp.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_times(std::string_view text) {
  const records::timestamp_parser in(records::time_zone(0), 1'767'355'445'000'000);
  if (const auto found = in.find_in_line(text)) require(found->begin < found->end && found->end <= text.size());
  if (const auto found = in.parse_prefix(text)) require(found->begin == 0 && found->end <= text.size());
  static_cast<void>(in.parse_value(text));
  const records::record_framing by({}, text, in);
  for (std::string_view rest = text; !rest.empty();) {
    static_cast<void>(by.is_record_start(rest, text.substr(0, text.size() - rest.size())));
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_times(text);
  static_cast<void>(records::detect_severity(text));
  const records::timestamp_parser in(records::time_zone(0), 1'767'355'445'000'000);
  static_cast<void>(records::detect_severity(text, in.find_in_line(text)));
  require(records::join_container_parts(text).size() <= text.size());
  if (const auto zone = records::parse_zone(text)) require(zone->size > 0 && zone->size <= text.size());
  if (const auto rules = records::zone_rules::parse(text)) {
    for (const std::int64_t time : {-5'000'000'000LL, 0LL, 1'767'355'445LL, 9'000'000'000LL}) {
      const auto offset = rules->offset_at(time);
      require(offset > -700'000 && offset < 700'000);
    }
    static_cast<void>(rules->to_utc({2026, 3, 29, 2, 30, 0, 0}));
  }
  const auto line = text.substr(0, text.find('\n'));
  static_cast<void>(records::find_field(text, line));
  static_cast<void>(records::parse_rank(line, "app.log"));
  records::for_each_field(text, [&](std::string_view name, std::string_view raw) {
    require(name.data() >= text.data() && raw.data() + raw.size() <= text.data() + text.size());
    static_cast<void>(records::decode_value(raw));
    return true;
  });
  const auto clean = records::sanitize(text);
  require(json::is_utf8(clean) && !json::has_nul(clean));
  require(records::sanitize(clean) == clean);
  if (records::is_plain_ascii(text)) require(clean == text);
  if (const auto at = records::parse_position(text)) require(records::to_text(*at) == text);
  return 0;
}
