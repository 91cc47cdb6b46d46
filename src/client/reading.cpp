/// Reading resources: through the server, or from where an https: link leads.
#include <algorithm>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/json/utf8.hpp"
#include "client/engine.hpp"
#include "protocol/wire/asking/errors.hpp"
#include "transport/http_client/direct_fetch.hpp"

namespace hondana::outbound {
namespace {

bool is_https(std::string_view uri) {
  constexpr std::string_view scheme = "https://";
  return uri.size() > scheme.size() && ascii::begins_with(uri, scheme);
}

bytes::digest digest_of(const read_answer& what) {
  bytes::digester all;
  for (const auto& one : what.items) {
    all.feed(std::to_string(one.uri.size()) + ':' + one.uri + std::to_string(one.bytes.size()) + ':');
    all.feed(one.bytes);
  }
  return all.value();
}

}  // namespace

result<read_answer> engine::read(std::string_view uri, std::string_view version, const content_writer& into,
                                 const call_options& how) {
  if (uri.empty()) return fail(errc::invalid_argument, "the URI to read is empty");
  if (options_.fetches_https && is_https(uri)) return fetch(std::string(uri), into, how);
  HONDANA_TRY(need(&server_description::has_resources, "resources", how));

  const bool has_version = !version.empty() && server().has_versions;
  request what{.asked = asking::read(uri, has_version ? version : std::string_view())};
  what.is_kept = !has_version && !into;
  std::vector<std::uint64_t> sizes;
  if (into) {
    what.content = [&sizes, &into](std::size_t item, std::string_view piece) -> result<void> {
      if (sizes.size() <= item) sizes.resize(item + 1);
      sizes[item] += piece.size();
      return into(item, piece);
    };
  }
  auto got = call(std::move(what), how);
  if (!got) {
    if (has_version && asking::is_not_modified(got.error())) {
      read_answer same;
      same.is_not_modified = true;
      return same;
    }
    return tl::unexpected(std::move(got.error()));
  }
  auto out = asking::contents_of(got->result());
  if (!out) return out;
  out->is_from_cache = got->is_from_cache;
  out->ttl = got->fresh.ttl;
  if (into) {
    for (std::size_t at = 0; at < std::min(sizes.size(), out->items.size()); ++at) out->items[at].size = sizes[at];
  } else {
    watches_.seen(std::string(uri), outbound::digest_of(*out));
  }
  return out;
}

result<bytes::digest> engine::digest_of(const std::string& uri, const call_options& how) {
  HONDANA_TRY(const auto got, read(uri, {}, {}, how));
  return outbound::digest_of(got);
}

result<read_answer> engine::fetch(const std::string& url, const content_writer& into, const call_options& how) {
  transport::http_client::fetch_limits most;
  most.bytes = into ? options_.max_read_bytes : options_.max_message_bytes;
  most.time = how.time.value_or(options_.call_time);
  std::stop_source either;
  const auto end = [&either] { either.request_stop(); };
  const std::stop_callback by_caller(how.stop, end);
  const std::stop_callback by_client(closing_.get_token(), end);
  HONDANA_TRY(auto got, transport::http_client::fetch_directly(url, most, into, either.get_token()));
  read_item item;
  item.uri = url;
  item.mimeType = got.media_type;
  item.bytes = std::move(got.bytes);
  item.size = got.size;
  // Nobody validated what a writer took; a type says what it is meant to be.
  item.is_text = into ? got.media_type.starts_with("text/") : json::is_utf8(item.bytes) && !json::has_nul(item.bytes);
  read_answer out;
  out.items.push_back(std::move(item));
  return out;
}

}  // namespace hondana::outbound
