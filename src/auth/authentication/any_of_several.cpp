/// Several authenticators as one.
#include <algorithm>
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/scope_words.hpp"

namespace hondana::authentication {
namespace {

using authenticator_list = std::vector<std::shared_ptr<authenticator>>;

/// What several refusals come to. `takes_tokens`: who gets one may ask, whatever the connection is worth.
challenge merged(const std::vector<challenge>& all, bool takes_tokens) {
  const auto weight = [takes_tokens](const challenge& one) {
    if (one.status == 503) return 3;
    if (!one.error.empty()) return 2;
    return (one.status == 403) != takes_tokens ? 1 : 0;
  };
  // Who cannot tell now may say yes later; who was given something knows more than who was not.
  const auto best =
      std::max_element(all.begin(), all.end(), [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  auto out = *best;
  out.description.clear();
  std::vector<std::string> said;
  for (const auto& one : all) {
    if (one.status == out.status) merge_scopes(out.scopes, one.scopes);
    if (weight(one) != weight(*best) || one.description.empty()) continue;
    if (std::find(said.begin(), said.end(), one.description) != said.end()) continue;
    out.description += (said.empty() ? "" : "; or ") + one.description;
    said.push_back(one.description);
  }
  // Whoever is known and may not come like this learns it beside what would help.
  for (const auto& one : all) {
    if (out.status != 401 || !out.error.empty() || one.status != 403 || one.description.empty()) continue;
    out.description += (out.description.empty() ? "" : "; ") + one.description;
  }
  return out;
}

std::shared_ptr<const protected_resource> merged_metadata(const authenticator_list& all) {
  std::shared_ptr<protected_resource> out;
  for (const auto& one : all) {
    const auto its = one->metadata();
    if (!its) continue;
    if (!out) {
      out = std::make_shared<protected_resource>(*its);
      continue;
    }
    for (const auto& server : its->authorization_servers) {
      auto& servers = out->authorization_servers;
      if (std::find(servers.begin(), servers.end(), server) == servers.end()) servers.push_back(server);
    }
    merge_scopes(out->scopes, its->scopes);
  }
  return out;
}

class any_of_several final : public authenticator {
 public:
  any_of_several(authenticator_list by_token, authenticator_list by_connection)
      : by_token_(std::move(by_token)), by_connection_(std::move(by_connection)) {
    all_ = by_connection_;
    all_.insert(all_.end(), by_token_.begin(), by_token_.end());
    metadata_ = merged_metadata(all_);
  }

  std::optional<authenticated> known(const request_facts& of) override {
    std::vector<challenge> refusals;
    for (const auto& one : asked_about(of)) {
      auto said = one->known(of);
      if (!said) return {};  // a later one must not be asked before it: whose caller it is would depend on timing
      if (*said) return said;
      refusals.push_back(std::move(said->error()));
    }
    return tl::unexpected(merged(refusals, !by_token_.empty()));
  }

  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point deadline) override {
    std::vector<challenge> refusals;
    for (const auto& one : asked_about(of)) {
      auto said = one->known(of);
      if (!said) said = one->find_out(of, deadline);
      if (*said) return std::move(*said);
      refusals.push_back(std::move(said->error()));
    }
    return tl::unexpected(merged(refusals, !by_token_.empty()));
  }

  [[nodiscard]] bool takes_tokens() const noexcept override {
    return std::any_of(all_.begin(), all_.end(), [](const auto& one) { return one->takes_tokens(); });
  }
  [[nodiscard]] std::shared_ptr<const protected_resource> metadata() const override { return metadata_; }

 private:
  /// A token that is sent is what counts: nobody is let in without a word although it has expired.
  [[nodiscard]] const authenticator_list& asked_about(const request_facts& of) const {
    if (!of.bearer || by_token_.empty()) return all_;
    return by_token_;
  }

  const authenticator_list by_token_;
  const authenticator_list by_connection_;
  authenticator_list all_;
  std::shared_ptr<const protected_resource> metadata_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_any_authenticator(std::vector<std::shared_ptr<authenticator>> by_token,
                                                              std::vector<std::shared_ptr<authenticator>> by_connection) {
  const auto has_null = [](const auto& all) { return std::find(all.begin(), all.end(), nullptr) != all.end(); };
  if (has_null(by_token) || has_null(by_connection)) return fail(errc::invalid_argument, "one of the authenticators is null");
  if (by_token.size() + by_connection.size() == 1) return by_token.empty() ? by_connection.front() : by_token.front();
  if (by_token.empty() && by_connection.empty()) return fail(errc::invalid_argument, "no authenticator is given");
  return std::shared_ptr<authenticator>(
      std::make_shared<authentication::any_of_several>(std::move(by_token), std::move(by_connection)));
}

}  // namespace hondana::inline v0
