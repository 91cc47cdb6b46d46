/// A provider over agent skills held in memory, for embedders and tests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::inline v0 {

/// Serves skills an application adds, under `skill://`, with the Skills extension and as ordinary resources.
///
/// Threads: any; skills may be added and removed while the server runs, and subscribed peers are told.
class skill_provider : public provider {
 public:
  /// Paths below the skill's folder, with `/` between names, and bytes.
  using files = std::vector<std::pair<std::string, std::string>>;

  /// `name` appears in errors and logs. `prefix`: a path all skills lie below, such as "acme/billing"; its first name is of
  /// a-z, 0-9 and -. Empty: none.
  explicit skill_provider(std::string name, std::string prefix = {});
  ~skill_provider() override;

  /// Adds or replaces a skill. `path`, below the prefix, ends with the skill's name: "git-workflow", "billing/refunds"; one
  /// that lies within another skill's path is nested in that, and its files are that skill's too. Errors: invalid_argument for
  /// a path or file name that cannot be, for files without a SKILL.md, for frontmatter that breaks the rules of Agent Skills,
  /// for a file that is in two skills, and for more than a skill may have (`max_skill_files`, `max_skill_bytes`); the text says
  /// what to change, and nothing is changed. Secrets in files are masked as they are added, so that digests are of what is
  /// sent. Spec: the extension io.modelcontextprotocol/skills, #skill-format.
  result<void> add(const std::string& path, files content);
  /// Removes a skill with all its files; false when there was none.
  bool remove(const std::string& path);

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] bool lists_folders() const noexcept override;
  [[nodiscard]] result<list_result> children(const children_request& request) override;
  [[nodiscard]] bool has_skills() const noexcept override;
  [[nodiscard]] result<skills_result> skills(const list_request& request) override;
  [[nodiscard]] result<skill> find_skill(const skill_request& request) override;
  /// Tells of every `add` and `remove`.
  void watch(std::shared_ptr<change_listener> to) override;
  [[nodiscard]] hondana::masking masking() const noexcept override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::inline v0
