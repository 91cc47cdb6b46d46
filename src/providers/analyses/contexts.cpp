/// Asking for versions.
#include "providers/analyses/contexts.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <hondana/uri.hpp>

#include "providers/analyses/address.hpp"

namespace hondana::wallbounce {
namespace {

std::string shown_uri(const std::string& uri) {
  constexpr std::size_t longest = 200;
  return uri.size() <= longest ? uri : uri.substr(0, longest) + "…";
}

failure explained(failure why, const std::string& at, const std::string& uri) {
  if (why.code == errc::resource_not_found || why.code == errc::access_denied) {
    why.public_text = at + ": there is no resource " + shown_uri(uri) +
                      " here, or it is not served to you. Name resources of this server; what else an analysis rests on goes "
                      "into options, where it is a part of the key, too.";
  } else {
    why.public_text = at + ": " + why.public_text;
  }
  return why;
}

}  // namespace

result<void> resolve(const ground& on, follower& with, const call& by, analyses::question& asked, std::string_view path) {
  const auto there = on.where();
  std::vector<std::string> seen;
  for (std::size_t i = 0; i < asked.context.size(); ++i) {
    auto& one = asked.context[i];
    const auto at = std::string(path) + '[' + std::to_string(i) + ']';
    auto canonical = canonical_uri(one.uri);
    if (!canonical) return fail(errc::invalid_argument, at + ".uri: " + canonical.error().public_text);
    one.uri = std::move(*canonical);
    if (std::find(seen.begin(), seen.end(), one.uri) != seen.end())
      return fail(errc::invalid_argument, at + ".uri: " + shown_uri(one.uri) + " stands there twice");
    seen.push_back(one.uri);
    if (!there) continue;
    with.watch(one.uri);
    auto version = there->version_of(by, one.uri);
    if (!version) return tl::unexpected(explained(std::move(version.error()), at, one.uri));
    if (!one.version.empty() && one.version != *version) {
      return fail(errc::content_changed, at + ": " + shown_uri(one.uri) +
                                             " has another version now than the one given, so that what rests on that one is "
                                             "out of date. Claim again, and compute it from what there is now.");
    }
    one.version = std::move(*version);
  }
  return {};
}

bool hold(const ground& on, const call& by, const std::vector<analyses::basis>& all, std::vector<std::string>& changed) {
  const auto there = on.where();
  if (!there) return true;
  for (const auto& one : all) {
    // Our own are asked for on other threads than these: the look that is made every while sees to them.
    if (one.uri.starts_with(std::string(scheme_name) + ':')) continue;
    const auto version = there->version_for_itself(by, one.uri);
    const bool is_gone = !version && version.error().code == errc::resource_not_found;
    if (is_gone || (version && *version != one.version)) changed.push_back(one.uri);
  }
  return changed.empty();
}

}  // namespace hondana::wallbounce
