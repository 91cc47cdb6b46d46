/// The provider of configured `https://` links, which are listed but never fetched.
#pragma once

#include <string>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/snapshot.hpp>

namespace hondana::links {

/// Checks one configured link and brings it into the form `links_provider` takes: a canonical URI, a name (its URL when
/// none is given) and the kind "link". The host is brought into lower case, and the port 443 dropped.
/// Errors: invalid_argument for what is not a URI, not `https://`, without a host, or with user information, which is not
/// repeated.
[[nodiscard]] result<resource> make_link(resource link);

/// Lists pages of the web that clients fetch themselves. Every link's own URL is a claim.
///
/// Threads: any; nothing blocks.
class links_provider final : public provider {
 public:
  /// `links` as `make_link` returns them; without any there is nothing to serve. Of links with equal URLs the last wins.
  explicit links_provider(std::vector<resource> links);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  /// Always an error: fetch_directly for a link, resource_not_found for what lies below one.
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool never_blocks() const noexcept override;

 private:
  entry_snapshot links_;
};

}  // namespace hondana::links
