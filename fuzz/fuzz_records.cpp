/// Lines of logs: times, levels, fields and framing of any bytes; and what is answered is text, and stays so.
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
#include "sources/logs/records/time_stamp.hpp"

namespace {

using namespace hondana;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_times(std::string_view text) {
  const records::time_reader in(records::zone(0), 1'767'355'445'000'000);
  if (const auto found = in.of_line(text)) require(found->begin < found->end && found->end <= text.size());
  if (const auto found = in.at_front(text)) require(found->begin == 0 && found->end <= text.size());
  static_cast<void>(in.of_value(text));
  const records::framing by({}, text, in);
  for (std::string_view rest = text; !rest.empty();) {
    static_cast<void>(by.begins(rest));
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_times(text);
  static_cast<void>(records::severity_of(text));
  const auto line = text.substr(0, text.find('\n'));
  static_cast<void>(records::field_of(text, line));
  static_cast<void>(records::rank_of(line, "app.log"));
  records::each_field(text, [&](std::string_view name, std::string_view raw) {
    require(name.data() >= text.data() && raw.data() + raw.size() <= text.data() + text.size());
    static_cast<void>(records::text_of_raw(raw));
    return true;
  });
  const auto clean = records::answerable(text);
  require(json::is_utf8(clean) && !json::has_nul(clean));
  require(records::answerable(clean) == clean);
  if (records::is_plain(text)) require(clean == text);
  if (const auto at = records::position_in(text)) require(records::to_text(*at) == text);
  return 0;
}
