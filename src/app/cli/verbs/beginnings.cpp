/// Comparing a word with what a server lists.
#include "app/cli/verbs/beginnings.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "app/cli/shell_word.hpp"
#include "app/cli/verbs/meanings.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t most_told_roots = 5;
constexpr std::size_t most_listed_for_roots = 20'000;

/// The address of the index is in no index.
bool belongs_to_index(const resource& one) { return one.uri.starts_with("search:"); }

/// What everything of its source begins with. Where no authority tells sources apart it is the URI itself: folders are listed
/// before what they hold.
std::string root_of(const std::string& uri) {
  const auto parts = split_uri(uri);
  if (!parts.authority || parts.authority->empty()) return uri;
  return std::string(parts.scheme) + "://" + std::string(*parts.authority) + '/';
}

/// Of all that is listed, as far as that is looked at; empty: nothing is listed.
result<std::string> told_roots(client& of, const call_options& how) {
  std::vector<std::string> roots;
  std::size_t count = 0;
  bool are_more = false;
  for (const auto& one : of.resources({}, how)) {
    if (!one) return tl::unexpected(one.error());
    if (belongs_to_index(*one)) continue;
    const auto is_below = [&one](const std::string& root) { return covers(root, one->uri) || root == one->uri + '/'; };
    const bool is_new = std::none_of(roots.begin(), roots.end(), is_below);
    are_more = (is_new && roots.size() == most_told_roots) || ++count == most_listed_for_roots;
    if (are_more) break;
    if (is_new) roots.push_back(root_of(one->uri));
  }
  std::string out;
  for (const auto& one : roots) out += (out.empty() ? "" : ", ") + one;
  return are_more ? out + ", and more" : out;
}

}  // namespace

result<void> check_beginning(client& of, const std::string& typed, const std::string& spelled, const call_options& how) {
  if (spelled.find(':') != std::string::npos) return {};
  entry_filter wanted;
  wanted.uri_prefix = spelled;
  for (const auto& one : of.resources(wanted, how)) {
    // Who lists nothing may be searched all the same.
    if (!one && one.error().code == errc::unsupported) return {};
    if (!one) return tl::unexpected(one.error());
    if (!belongs_to_index(*one)) return {};
  }
  const auto text = "no listed URI begins with \"" + typed + "\", so nothing can be found below it. ";
  if (const auto named = resource_named(of, typed, how)) {
    return fail(errc::invalid_argument,
                text + "Give a URI as `hondana ls` prints it. Did you mean --under " + shell_word(*named) + "?");
  }
  HONDANA_TRY(const auto roots, told_roots(of, how));
  return fail(
      errc::invalid_argument,
      text + (roots.empty() ? "The server lists no resources now."
                            : "Give a URI or its beginning, as `hondana ls` prints it. Listed URIs begin with " + roots + '.'));
}

}  // namespace hondana::cli
