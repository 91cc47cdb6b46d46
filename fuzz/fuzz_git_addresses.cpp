/// Fuzzes what peers ask repositories for: addresses, revisions and cursors. What is accepted is written in one way only, and
/// reads the same again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/bytes/digest.hpp"
#include "base/json/utf8.hpp"
#include "sources/git/commit_walk.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/revision.hpp"

namespace {

using namespace hondana::git;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_clear(const hondana::failure& why) {
  require(!why.public_text.empty() && why.public_text.size() < 4000 && hondana::json::is_utf8(why.public_text));
}

void look_at_address(std::string_view uri) {
  const auto one = parse_address(uri);
  if (!one) return require_clear(one.error());
  const auto written = uri_of(*one);
  const auto again = parse_address(written);
  require(again && uri_of(*again) == written && again->kind == one->kind && again->path == one->path);
  require(written.starts_with(uri_prefix(one->repo)));
}

void look_at_revision(std::string_view text) {
  const auto words = parse_revision(text, "rev");
  if (!words) return require_clear(words.error());
  require(!words->base.empty() && !words->base.starts_with('-') && words->base.find("..") == std::string::npos);
}

void look_at_cursor(std::string_view text) {
  const hondana::bytes::digest log = hondana::bytes::digest_of("a log");
  if (const auto parsed = parse_cursor(text, log)) require(encode_cursor(parsed->state, log, parsed->note) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  look_at_address(text);
  look_at_address("git://r/" + std::string(text));
  look_at_revision(text);
  look_at_cursor(text);
  // Every check at the end of a cursor would have to be guessed: what is behind it is reached through its own writer.
  walk_state at;
  at.visited_count = size;
  const hondana::bytes::digest log = hondana::bytes::digest_of("a log");
  const auto cursor = encode_cursor(at, log, text.substr(0, 4096));
  const auto back = parse_cursor(cursor, log);
  require(back && back->note == text.substr(0, 4096) && back->state.visited_count == size);
  require(!parse_cursor(cursor, hondana::bytes::digest_of("another")));
  return 0;
}
