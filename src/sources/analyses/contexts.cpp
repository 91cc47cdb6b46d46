/// Asking for versions.
#include "sources/analyses/contexts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/sha256.hpp"
#include "sources/analyses/address.hpp"

namespace hondana::analyses_source {
namespace {

std::string shown_uri(const std::string& uri) {
  constexpr std::size_t longest = 200;
  return uri.size() <= longest ? uri : uri.substr(0, longest) + "…";
}

failure explained(failure why, const std::string& at, const std::string& uri) {
  if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
    why.public_text =
        at + ": resource " + shown_uri(uri) +
        " not found, or you may not read it. Name resources of this server; put other inputs of the analysis into "
        "options, which are also part of the key.";
  } else {
    why.public_text = at + ": " + why.public_text;
  }
  return why;
}

/// Of what is made for each caller anew, such as a folder of which rules hide a part: what this caller was given, and what
/// there is, of which only its digest shows.
constexpr std::string_view own_view = "view-";
constexpr std::size_t digest_digits = 64;

std::string digest_of_version(std::string_view version) { return bytes::to_hex(bytes::sha256_of(version)); }

std::string version_in_view(std::string_view given, std::string_view whole) {
  return std::string(own_view) + digest_of_version(given) + '-' + digest_of_version(whole);
}

/// The version that an analysis of this caller rests on.
result<std::string> version_for(const neighbourhood& there, const call& by, const std::string& uri) {
  auto given = there.version_of(by, uri);
  if (!given || (!by.who.view && !by.who.proof)) return given;
  auto whole = there.version_for_itself(by, uri);
  if (!whole || *whole == *given) return whole;
  // Asked once more, since it may have changed in between; when it does so from now on, the whole is another one than here.
  given = there.version_of(by, uri);
  if (!given || *given == *whole) return given;
  return version_in_view(*given, *whole);
}

}  // namespace

bool is_still(std::string_view known, std::string_view present) {
  if (known == present) return true;
  return known.size() == own_view.size() + 2 * digest_digits + 1 && known.starts_with(own_view) &&
         known.substr(own_view.size() + digest_digits + 1) == digest_of_version(present);
}

result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked, std::string_view path) {
  const auto there = on.neighbours();
  if (!there) return tl::unexpected(there.error());
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < asked.context.size(); ++i) {
    auto& one = asked.context[i];
    const auto at = std::string(path) + '[' + std::to_string(i) + ']';
    auto canonical = canonical_uri(one.uri);
    if (!canonical) return fail(errc::invalid_argument, at + ".uri: " + canonical.error().public_text);
    one.uri = std::move(*canonical);
    if (std::find(seen.begin(), seen.end(), one.uri) != seen.end())
      return fail(errc::invalid_argument, at + ".uri: " + shown_uri(one.uri) + " is in the context twice");
    seen.push_back(one.uri);
    if (!*there) continue;
    with.watch(one.uri);
    auto version = version_for(**there, by, one.uri);
    if (!version) return tl::unexpected(explained(std::move(version.error()), at, one.uri));
    if (!one.version.empty() && one.version != *version) {
      return fail(errc::content_changed, at + ": " + shown_uri(one.uri) +
                                             " has another version now than the one given, so the analysis is out of date. "
                                             "Claim again, and compute it from the current version.");
    }
    one.version = std::move(*version);
  }
  return {};
}

result<bool> hold(const ground& on, const follower& with, const call& by, const std::vector<analyses::basis>& all,
                  std::vector<std::string>& changed) {
  HONDANA_TRY(const auto there, on.neighbours());
  if (!there) return true;
  bool are_all_there = true;
  for (const auto& one : all) {
    // Our own are asked for on other threads than these: the look that is made every while sees to them.
    if (one.uri.starts_with(std::string(scheme_name) + ':')) continue;
    const auto version = there->version_for_itself(by, one.uri);
    if (version) {
      if (one.version.empty() ? !with.may_rest_on(one.uri, *version) : !is_still(one.version, *version))
        changed.push_back(one.uri);
    } else if (version.error().code == errc::resource_not_found) {
      are_all_there = false;
    } else {
      auto why = version.error();
      why.public_text = "Cannot check whether the context of this analysis has changed: " + why.public_text;
      return tl::unexpected(std::move(why));
    }
  }
  return are_all_there && changed.empty();
}

}  // namespace hondana::analyses_source
