/// Callers known by what they are connected with: a certificate, or a process of this machine.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <hondana/authenticators.hpp>

#include "auth/authentication/refusals.hpp"
#include "auth/authentication/scope_words.hpp"

namespace hondana::authentication {
namespace {

std::string_view prefix_of(certificate_name kind) {
  switch (kind) {
    case certificate_name::dns:
      return "DNS:";
    case certificate_name::email:
      return "email:";
    case certificate_name::uri:
      return "URI:";
    case certificate_name::subject:
      break;
  }
  return "";
}

class certificates final : public authenticator {
 public:
  explicit certificates(certificate_options options) : options_(std::move(options)) {
    for (const auto& [name, scopes] : options_.allowed) allowed_.insert_or_assign(name, scopes);
  }

  std::optional<authenticated> known(const request_facts& of) override { return judged(of); }
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point) override { return judged(of); }
  [[nodiscard]] bool takes_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] authenticated judged(const request_facts& of) const {
    if (!of.certificate) return tl::unexpected(nothing_sent("present a client certificate", {}));
    for (const auto& name : names_of(*of.certificate)) {
      const auto found = allowed_.find(name);
      if (found == allowed_.end() && !allowed_.empty()) continue;
      return admitted(of, name, found == allowed_.end() ? options_.scopes : found->second);
    }
    challenge out;
    out.status = 403;
    out.description = allowed_.empty() ? "the certificate has no name of the required kind"
                                       : "the certificate is not one of the allowed ones";
    return tl::unexpected(std::move(out));
  }

  [[nodiscard]] std::vector<std::string> names_of(const peer_certificate& shown) const {
    if (options_.by == certificate_name::subject) {
      return shown.subject.empty() ? std::vector<std::string>() : std::vector<std::string>{shown.subject};
    }
    const auto prefix = prefix_of(options_.by);
    std::vector<std::string> out;
    for (const auto& one : shown.names) {
      if (one.starts_with(prefix) && one.size() > prefix.size()) out.push_back(one.substr(prefix.size()));
    }
    return out;
  }

  [[nodiscard]] caller admitted(const request_facts& of, const std::string& name,
                                const std::vector<std::string>& scopes) const {
    value::array names;
    for (const auto& one : of.certificate->names) names.emplace_back(one);
    auto proved = std::make_shared<proof>();
    proved->scopes = scopes;
    proved->claims = value(
        value::object{{"subject", of.certificate->subject}, {"names", std::move(names)}, {"sha256", of.certificate->sha256}});
    return {std::string(prefix_of(options_.by)) + name, of.address, nullptr, std::move(proved)};
  }

  const certificate_options options_;
  std::map<std::string, std::vector<std::string>, std::less<>> allowed_;
};

class processes final : public authenticator {
 public:
  explicit processes(const std::vector<std::pair<std::uint32_t, std::string>>& allowed)
      : allowed_(allowed.begin(), allowed.end()) {}

  std::optional<authenticated> known(const request_facts& of) override { return judged(of); }
  authenticated find_out(const request_facts& of, std::chrono::steady_clock::time_point) override { return judged(of); }
  [[nodiscard]] bool takes_tokens() const noexcept override { return false; }

 private:
  [[nodiscard]] authenticated judged(const request_facts& of) const {
    if (!of.process) return tl::unexpected(nothing_sent("connect through the Unix socket", {}));
    const auto found = allowed_.find(of.process->user);
    if (found != allowed_.end()) return caller{found->second, of.address, nullptr, nullptr};
    challenge out;
    out.status = 403;
    out.description = "user " + std::to_string(of.process->user) + " is not one of the allowed users";
    return tl::unexpected(std::move(out));
  }

  const std::map<std::uint32_t, std::string> allowed_;
};

}  // namespace
}  // namespace hondana::authentication

namespace hondana::inline v0 {

result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options) {
  const auto are_scopes = [](const std::vector<std::string>& all) {
    return std::all_of(all.begin(), all.end(), [](const std::string& one) { return authentication::is_scope(one); });
  };
  if (!are_scopes(options.scopes))
    return fail(errc::invalid_argument, "certificate_options::scopes: contains an invalid scope");
  std::set<std::string_view> seen;
  for (const auto& [name, scopes] : options.allowed) {
    if (name.empty() || !are_scopes(scopes) || !seen.insert(name).second)
      return fail(errc::invalid_argument,
                  "certificate_options::allowed: \"" + name + "\" is empty, named twice or has an invalid scope");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::certificates>(std::move(options)));
}

result<std::shared_ptr<authenticator>> make_process_authenticator(std::vector<std::pair<std::uint32_t, std::string>> allowed) {
  if (allowed.empty()) return fail(errc::invalid_argument, "no user is allowed; name at least one");
  for (const auto& [user, identity] : allowed) {
    if (identity.empty()) return fail(errc::invalid_argument, "user " + std::to_string(user) + " has no identity");
  }
  return std::shared_ptr<authenticator>(std::make_shared<authentication::processes>(allowed));
}

}  // namespace hondana::inline v0
