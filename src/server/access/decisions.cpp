/// Asking rules from the last to the first.
#include "server/access/decisions.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/threads/own.hpp"
#include "server/access/one_form.hpp"

namespace hondana::access {
namespace {

/// Everything a decision depends on, each part with its length.
void spell(std::string& out, const access_rule& what) {
  const auto add = [&out](std::string_view part) { (out += std::to_string(part.size()) + ':') += part; };
  for (const auto* all : {&what.uris, &what.patterns, &what.kinds, &what.tools, &what.prompts}) {
    add(std::to_string(all->size()));
    for (const auto& one : *all) add(one);
  }
  add(!what.audience ? "" : *what.audience == role::user ? "user" : "assistant");
  add(std::to_string(static_cast<int>(what.gives)));
}

/// What rules said of a URI, for those who ask of the same ones again and again: the record, the catalog, and peers.
struct remembered {
  std::uint64_t id = 0;  // of the rules, which is the same only for equal ones
  std::string uri;
  grant most = grant::none;
};
constexpr std::size_t remembered_by_thread = 64;
constexpr std::size_t longest_remembered = 512;

}  // namespace

decisions::decisions(std::shared_ptr<const rule_list> all, const std::vector<std::size_t>& which) : all_(std::move(all)) {
  std::string spelled = "access";
  for (const auto index : which) {
    const auto& one = (*all_)[index];
    spell(spelled, one.what());
    last_first_.push_back(&one);
    looks_at_entries_ = looks_at_entries_ || one.looks_at_entries();
  }
  std::reverse(last_first_.begin(), last_first_.end());
  id_ = bytes::digest_of(spelled)[0];
}

grant decisions::most_of_one(std::string_view uri) const {
  auto most = grant::none;
  for (const auto* one : last_first_) {
    if (!one->is_about_uri_in_one_form(uri)) continue;
    most = std::max(most, one->what().gives);
    if (!one->looks_at_entries()) return most;  // what stands before it decides nothing
  }
  return most;
}

grant decisions::looked_up(std::string_view asked) const {
  // Once, and not for each rule.
  const auto uri = in_one_form(asked);
  const auto whole = whole_of(uri);
  const auto most = most_of_one(uri);
  // A resource is hidden with all of its parts.
  return whole.size() == uri.size() ? most : std::min(most, most_of_one(whole));
}

grant decisions::most_of(std::string_view uri) const {
  if (uri.size() > longest_remembered) return looked_up(uri);
  auto* const last = threads::own<std::array<remembered, remembered_by_thread>>();
  if (last == nullptr) return looked_up(uri);
  auto& place = (*last)[std::hash<std::string_view>()(uri) % last->size()];
  if (place.id != id_ || place.uri != uri) {
    const auto most = looked_up(uri);
    place.id = 0;  // in case there is no memory for the URI
    place.uri = uri;
    place.most = most;
    place.id = id_;
  }
  return place.most;
}

grant decisions::of_one(std::string_view uri, const resource& entry) const {
  const auto decides = std::find_if(last_first_.begin(), last_first_.end(), [&](const rule* one) {
    return one->is_about_uri_in_one_form(uri) && one->is_about_entry(entry);
  });
  return decides == last_first_.end() ? grant::none : (*decides)->what().gives;
}

grant decisions::of(const resource& entry) const {
  const auto uri = in_one_form(entry.uri);
  const auto whole = whole_of(uri);
  const auto all = of_one(uri, entry);
  return whole.size() == uri.size() ? all : std::min(all, of_one(whole, entry));
}

grant decisions::of_tool(std::string_view name, bool is_built_in) const {
  const auto decides =
      std::find_if(last_first_.begin(), last_first_.end(), [name](const rule* one) { return one->is_about_tool(name); });
  if (decides != last_first_.end()) return (*decides)->what().gives;
  return is_built_in ? grant::read : grant::none;
}

grant decisions::of_prompt(std::string_view name) const {
  const auto decides =
      std::find_if(last_first_.begin(), last_first_.end(), [name](const rule* one) { return one->is_about_prompt(name); });
  return decides == last_first_.end() ? grant::none : (*decides)->what().gives;
}

bool decisions::may_see_some(const uri_template& of) const {
  for (const auto* one : last_first_) {
    const auto share = one->share_of(of);
    if (share == rule::share::none) continue;
    if (one->what().gives >= grant::list) return true;
    if (share == rule::share::all && !one->looks_at_entries()) return false;
  }
  return false;
}

narrowed::narrowed(std::shared_ptr<const view> one, std::shared_ptr<const view> other)
    : one_(std::move(one)),
      other_(std::move(other)),
      id_(bytes::digest_of("both " + std::to_string(one_->id()) + ' ' + std::to_string(other_->id()))[0]) {}

}  // namespace hondana::access
