/// Lines of an HTTP answer's head, and URLs that servers name: capped, on one line, and never another origin by mistake.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/ascii/ascii.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/response_head.hpp"

namespace {

using namespace hondana::transport::http_client;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_head(std::string_view bytes) {
  head_reader reader;
  std::size_t read = 0;
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    read += end;
    const auto now = reader.feed(bytes.substr(0, end));
    require((now == head_reader::state::too_long) == (read > max_head_bytes));
    if (now == head_reader::state::too_long) break;
    require(reader.is_complete() == (now == head_reader::state::complete));
    bytes.remove_prefix(end);
  }
  const auto& head = reader.head();
  require(head.status == 0 || (head.status >= 100 && head.status <= 999));
  require(hondana::ascii::to_lower(head.media_type()) == head.media_type() && head.media_type().find(';') == std::string::npos);
  require(hondana::ascii::to_lower(head.charset()) == head.charset());
  if (head.session_id && is_session_id(*head.session_id)) require(is_field_value(*head.session_id));
  const auto challenges = parse_challenges(head.challenges);
  require(challenges.size() <= 32);
  for (const auto& one : challenges) require(is_field_name(one.scheme) && one.parameters.size() <= 32);
  const auto pause = parse_retry_after(head.retry_after, std::chrono::system_clock::from_time_t(784111777));
  require(!pause || (pause->count() >= 0 && *pause <= std::chrono::hours(24)));
}

void follow(const std::string& to) {
  const std::string base = "https://example.com/a/b?c";
  const auto next = resolve_url(base, to);
  if (next) {
    require(next->find('#') == std::string::npos && next->size() <= 4 * to.size() + base.size() + 64);
    // What is compared with the origin is what libcurl connects to.
    const auto origin = origin_of(*next);
    if (origin) require(origin->starts_with("http://") || origin->starts_with("https://"));
  }
  const auto text = display_url(to);
  require(text.size() <= 303 && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; }));
  if (const auto line = header_line("X-Name", to)) require(is_field_value(*line));
  hondana::http_target target;
  target.url = to;
  if (const auto checked = check_target(target)) {
    require(origin_of(checked->url) == checked->origin && !has_credentials(checked->url));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_head(bytes);
  follow(std::string(bytes));
  return 0;
}
