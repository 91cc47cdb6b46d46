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

/// The URIs and kinds of mounts, without one.
[[nodiscard]] scheme_documentation describe();

/// Lists from what is known of the other server, all else by asking it.
class mcp_provider final : public provider, public model::mount {
 public:
  /// `options` are checked.
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
  /// Also what is left out, and why. Errors: what keeps it from the other server.
  [[nodiscard]] result<void> survey(const call& request, const std::function<void(const survey_item&)>& each) override;
  void watch(std::shared_ptr<change_listener> to) override { upstream_.watch(std::move(to)); }
  void attach(const std::string& uri) override { upstream_.attach(uri); }
  void detach(const std::string& uri) override { upstream_.detach(uri); }
  /// The other server is asked about each spelling by itself, since it may tell of parts so.
  [[nodiscard]] bool tells_parts() const noexcept override { return true; }
  void attach_list() override { upstream_.attach_list(); }
  void detach_list() override { upstream_.detach_list(); }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 16; }
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override {
    return upstream_.options().redact ? masking::by_server : masking::none;
  }
  [[nodiscard]] hondana::health health() const override { return upstream_.health(); }
  /// The program that it starts, to whose environment it adds `chain_variable`; null where there is none.
  [[nodiscard]] const child_target* program() const noexcept { return std::get_if<child_target>(&upstream_.options().target); }

 private:
  /// One of our URIs on its way to the other server.
  struct place {
    std::shared_ptr<client> with;
    std::string theirs;
    call_options how;
    upstream::pending_call pending;
  };
  /// Errors: resource_not_found for what is not served; source_unavailable for a circle, and when the server cannot be reached.
  [[nodiscard]] result<place> find(const call& by, const std::string& ours);
  /// The failure as it is passed on, noted. `theirs`: what was asked for; may be empty.
  [[nodiscard]] failure ended(const failure& why, const std::string& theirs);
  /// The same entries, made fit before, under our URIs; those whose URIs cannot be ours are left out.
  [[nodiscard]] std::vector<resource> adopted(std::vector<resource> theirs) const;
  [[nodiscard]] result<reading> read_if_changed(const place& at, const read_request& request);
  [[nodiscard]] result<reading> read_through(const place& at, const read_request& request);
  [[nodiscard]] content content_of(const read_item& from, const std::string& theirs) const;
  /// Whether a content that came with another resource (a file of a folder) is excluded by its own URI.
  [[nodiscard]] bool is_excluded(const read_item& from, const std::string& theirs) const;

  upstream upstream_;
};

}  // namespace hondana::mcp
