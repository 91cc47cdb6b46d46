/// Asks the well-known places one after the other.
#include "auth/oauth/discovery.hpp"

#include <utility>

#include "auth/oauth/places.hpp"
#include "base/uri/well_known.hpp"

namespace hondana::oauth {
namespace {

/// Whether somebody has published something there. Pages that are served for every path are nothing; plain file servers do not
/// know the type of a file without extension.
bool is_document(const small_answer& answer) {
  return answer.status == 200 && (answer.media_type == "application/json" || answer.bytes.starts_with('{'));
}

/// Asks place after place, and remembers what came of it.
class search {
 public:
  search(const caller_of_http& http, const std::stop_token& stop) : http_(http), stop_(stop) {}

  /// The document of the first place that has one; nothing when none has. A place that must not be asked, a redirect and a
  /// refusal count as none; a server that cannot be reached or fails does not.
  result<std::optional<std::pair<std::string, std::string>>> first(const std::vector<std::string>& places) {
    for (const auto& place : places) {
      auto answer = http_.call({.url = place,
                                .headers = {{"Accept", "application/json"}, {"MCP-Protocol-Version", "2025-03-26"}},
                                .body = std::nullopt,
                                .most_bytes = longest_metadata,
                                .time = http_.time},
                               stop_);
      if (!answer) {
        const auto code = answer.error().code;
        if (code != errc::invalid_argument && code != errc::access_denied) return tl::unexpected(std::move(answer.error()));
        note(answer.error().public_text);
        continue;
      }
      if (answer->status >= 500 || answer->status == 429)
        return fail(errc::source_unavailable, "cannot find out how to log in: " + shown(place) + " answered with status " +
                                                  std::to_string(answer->status));
      if (is_document(*answer)) return std::pair(place, std::move(answer->bytes));
      note(shown(place) + ": status " + std::to_string(answer->status) +
           (answer->status == 200 ? ", but not JSON" : std::string()));
    }
    return std::nullopt;
  }

  [[nodiscard]] const std::string& tried() const noexcept { return tried_; }

 private:
  void note(const std::string& line) { tried_ += (tried_.empty() ? "" : "; ") + line; }

  const caller_of_http& http_;
  const std::stop_token& stop_;
  std::string tried_{};
};

tl::unexpected<failure> about(const std::string& place, failure why) {
  why.public_text = "the metadata at " + shown(place) + " cannot be used: " + why.public_text;
  return tl::unexpected(std::move(why));
}

/// Nothing: it publishes none.
result<std::optional<resource_metadata>> metadata_of(search& through, const std::string& url, const std::string& hint) {
  auto places = resource_metadata_places(url);
  if (!hint.empty()) std::erase(places, hint);
  if (!hint.empty()) places.insert(places.begin(), hint);
  HONDANA_TRY(auto found, through.first(places));
  if (!found) return std::nullopt;
  const auto& [place, bytes] = *found;
  auto out = read_resource_metadata(bytes);
  if (!out) return about(place, std::move(out.error()));
  if (!is_resource_of(out->resource, url))
    return about(place, {errc::unauthorized,
                         "it belongs to another server, \"" + shown(out->resource) + "\", not to \"" + shown(url) +
                             "\"; if you mean that server, use its URL",
                         {}});
  return std::move(*out);
}

/// Nothing: it publishes none. `is_named`: the MCP server has spelled the issuer. Where we have made it from the server's URL
/// ourselves, it may as well end in a slash.
result<std::optional<server_metadata>> metadata_of_issuer(search& through, const std::string& issuer, bool is_named) {
  auto places = uri::issuer_metadata_places(issuer);
  if (!is_named) places.resize(1);
  HONDANA_TRY(auto found, through.first(places));
  if (!found) return std::nullopt;
  auto out = read_server_metadata(found->second, issuer);
  if (!out && !is_named) {
    const auto base = base_of(issuer);
    if (auto otherwise = read_server_metadata(found->second, issuer == base ? base + '/' : base)) out = std::move(otherwise);
  }
  if (!out) return about(found->first, std::move(out.error()));
  return std::move(*out);
}

}  // namespace

result<authority> discover(const caller_of_http& http, const std::string& url, const std::string& hint,
                           const issuer_choice& choose, const std::stop_token& stop) {
  search through(http, stop);
  HONDANA_TRY(auto published, metadata_of(through, url, hint));
  authority out;
  out.resource = url;
  out.is_published = published.has_value();
  // Its own issuer, which it may spell either way.
  std::vector<std::string> named{base_of(url), base_of(url) + '/'};
  if (published) {
    out.resource = std::move(published->resource);
    out.scopes = std::move(published->scopes);
    named = std::move(published->authorization_servers);
  }
  HONDANA_TRY(const auto issuer, choose(named));
  HONDANA_TRY(auto server, metadata_of_issuer(through, issuer, out.is_published));
  if (server) {
    out.server = std::move(*server);
    return out;
  }
  if (out.is_published)
    return fail(errc::source_unavailable, "cannot find out how to log in at " + shown(issuer) + ": " + through.tried());
  // Nobody's password shall be asked for in plain text.
  HONDANA_TRY(check_issuer(issuer));
  out.is_assumed = true;
  out.server = metadata_by_default(base_of(issuer));
  return out;
}

result<server_metadata> server_of(const caller_of_http& http, const std::string& issuer, const std::stop_token& stop) {
  search through(http, stop);
  HONDANA_TRY(auto out, metadata_of_issuer(through, issuer, true));
  if (!out) return fail(errc::source_unavailable, "no metadata was found for " + shown(issuer) + ": " + through.tried());
  return std::move(*out);
}

}  // namespace hondana::oauth
