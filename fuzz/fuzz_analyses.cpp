/// Analyses as JSON, and replies of Redis: what is taken reads back equal from what is written of it, keys and summaries can be
/// made of it, and refusals name a place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/redis/resp.hpp"
#include "sources/analyses/cache/store.hpp"

namespace {

using namespace hondana;

void demand(bool holds) {
  if (!holds) std::abort();
}

void read_analysis(std::string_view text) {
  const auto got = analyses::decode(text);
  if (!got) {
    demand(!got.error().public_text.empty() && json::is_utf8(got.error().public_text));
    return;
  }
  const auto written = analyses::encode(*got);
  const auto back = analyses::decode(written);
  demand(back && *back == *got && analyses::encode(*back) == written);
  const auto key = analyses::make_key(got->question);
  demand(key == analyses::make_key(back->question) && key.digest.size() == 32);
  const auto normal = analyses::normalize_prompt(got->question.prompt);
  demand(json::is_utf8(normal) && analyses::normalize_prompt(normal) == normal);
  const auto kept = analyses::prepare_put(*got, analyses::analysis_status::complete);
  demand(kept && json::is_utf8(kept->summary.title) && kept->summary.title.size() <= analyses::max_title_bytes);
  demand(kept->summary.agreement >= 0 && kept->summary.agreement <= 1);
}

void read_replies(std::string_view bytes, std::size_t piece) {
  analyses::reply_parser whole, pieces;
  whole.feed(bytes);
  std::size_t in_whole = 0, in_pieces = 0;
  bool is_wrong = false;
  for (;;) {
    const auto one = whole.next();
    is_wrong = !one;
    if (!one || !*one) break;
    ++in_whole;
  }
  bool is_wrong_in_pieces = false;
  for (std::size_t at = 0; at < bytes.size() && !is_wrong_in_pieces; at += piece) {
    pieces.feed(bytes.substr(at, piece));
    for (;;) {
      const auto one = pieces.next();
      is_wrong_in_pieces = !one;
      if (!one || !*one) break;
      ++in_pieces;
    }
  }
  demand(in_whole == in_pieces && is_wrong == is_wrong_in_pieces);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == '{' || data[0] % 2 == 0) {
    read_analysis(text);
  } else {
    read_replies(text, 1 + data[0] / 2);
  }
  if (const auto ticket = analyses::parse_ticket(text)) {
    const auto again = analyses::parse_ticket(analyses::format_ticket(*ticket));
    demand(again && *again == *ticket);
  }
  static_cast<void>(analyses::digest_from_hex(text));
  return 0;
}
