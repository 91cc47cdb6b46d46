/// A provider with agent skills in memory, for applications and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Serves skills that an application adds, under `skill://`, by the skills extension and as ordinary resources.
///
/// Threads: any. Skills may be added and removed while the server runs; clients are notified.
class skill_provider : public provider, public entry_source, public folder_source, public skill_source, public change_source {
 public:
  /// Pairs of path and content. Paths are relative to the skill's folder, with `/` between names.
  using files = std::vector<std::pair<std::string, std::string>>;

  /// `name` appears in errors and logs. `prefix`: the path in `skill://` that contains all skills, such as "acme/billing". Its
  /// first name consists of a-z, 0-9 and -. Empty: none.
  explicit skill_provider(std::string name, std::string prefix = {});
  ~skill_provider() override;

  /// Adds or replaces a skill. `path` is relative to the prefix and ends with the skill's name: "git-workflow",
  /// "billing/refunds". A skill inside another skill's path is nested: its files belong to both. Secrets in files are masked.
  ///
  /// Errors: invalid_argument with what to change; then nothing changes. Rejected are invalid paths and file names, a missing
  /// SKILL.md, and front matter that breaks the rules of Agent Skills. So are a file that two skills add, and more than
  /// `max_skill_files` or `max_skill_bytes`. Spec: the extension io.modelcontextprotocol/skills, #skill-format.
  [[nodiscard]] result<void> add(const std::string& path, files content);
  /// Removes a skill with all files that were added with it. Returns false, and changes nothing, if there is no such skill or
  /// if another skill cannot be served without it.
  bool remove(const std::string& path);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  /// `listener` is notified of every `add` and `remove`.
  void set_listener(std::shared_ptr<change_listener> listener) override;
  [[nodiscard]] provider_traits traits() const noexcept override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
