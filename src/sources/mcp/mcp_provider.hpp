/// The provider that mounts another MCP server.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <hondana/mcp.hpp>
#include <hondana/provider.hpp>

#include "protocol/model/provider_extensions.hpp"
#include "sources/mcp/upstream.hpp"

namespace hondana::mcp {

/// URIs and kinds of mounts in general, without a particular server.
[[nodiscard]] scheme_documentation describe();

/// Serves lists from the cached lists of the other server, and passes all other requests on.
class mcp_provider final : public provider, public model::mount {
 public:
  /// `options` must have been checked.
  explicit mcp_provider(mount_options options) : upstream_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return upstream_.options().name; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {upstream_.names().prefix()}; }
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override { return true; }
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] bool has_skills() const noexcept override { return upstream_.options().skills; }
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  [[nodiscard]] bool templates_change() const noexcept override { return true; }
  [[nodiscard]] result<std::vector<resource_template>> templates_now(const call& request) override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Also reports entries that are left out, and why. Errors: why the other server cannot be reached.
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override { upstream_.watch(std::move(to)); }
  void attach(const std::string& uri) override { upstream_.attach(uri); }
  void detach(const std::string& uri) override { upstream_.detach(uri); }
  /// The server receives each URI with its query, since it may notify changes of parts.
  [[nodiscard]] bool tells_parts() const noexcept override { return true; }
  void attach_list() override { upstream_.attach_list(); }
  void detach_list() override { upstream_.detach_list(); }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 16; }
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override {
    return upstream_.options().redact ? masking::by_server : masking::none;
  }
  [[nodiscard]] hondana::health health() const override { return upstream_.health(); }
  /// The program to start, which gets `chain_variable` in its environment; null if there is none.
  [[nodiscard]] const child_target* program() const noexcept { return std::get_if<child_target>(&upstream_.options().target); }

 private:
  /// A request for one of our URIs, mapped to the other server.
  struct place {
    std::shared_ptr<client> with;
    std::string theirs;
    call_options how;
    upstream::pending_call pending;
  };
  /// Errors: resource_not_found for URIs that are not served; source_unavailable for a cycle, or if the server cannot be
  /// reached.
  [[nodiscard]] result<place> find(const call& by, const std::string& ours);
  /// Records a failure, and converts it for the caller. `theirs`: the requested URI; may be empty.
  [[nodiscard]] failure ended(const failure& why, const std::string& theirs);
  /// The entries under our URIs. They must have been sanitized. Skips entries whose URIs cannot be mapped.
  [[nodiscard]] std::vector<resource> adopted(std::vector<resource> theirs) const;
  [[nodiscard]] result<reading> read_if_changed(const place& at, const read_request& request);
  [[nodiscard]] result<reading> read_through(const place& at, const read_request& request);
  [[nodiscard]] content content_of(const read_item& from, const std::string& theirs) const;
  /// Whether a content that came with another resource, such as a file of a folder, is excluded by its own URI.
  [[nodiscard]] bool is_excluded(const read_item& from, const std::string& theirs) const;

  upstream upstream_;
};

}  // namespace hondana::mcp
