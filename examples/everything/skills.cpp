/// Skills: two separate ones, and one nested in the first.
#include <memory>

#include <hondana/skill_provider.hpp>

#include "everything.hpp"

namespace everything {

result<void> add_skills(server& target) {
  auto provider = std::make_shared<hondana::skill_provider>("skills");
  auto added = provider->add("git-workflow", {{"SKILL.md",
                                               "---\n"
                                               "name: git-workflow\n"
                                               "description: Follow this team's Git conventions for branching and commits\n"
                                               "license: MIT\n"
                                               "metadata:\n"
                                               "  version: \"1.0\"\n"
                                               "---\n"
                                               "# Git workflow\n\n"
                                               "Pick the template from `templates/`, then see `references/BRANCHES.md`.\n"},
                                              {"references/BRANCHES.md", "# Branches\n\nOne topic, one branch.\n"},
                                              {"templates/commit.txt", "area: what changed\n\nwhy\n"}});
  if (!added) return added;
  added = provider->add("git-workflow/bisecting", {{"SKILL.md",
                                                    "---\n"
                                                    "name: bisecting\n"
                                                    "description: Find the commit that broke something\n"
                                                    "---\n"
                                                    "# Bisecting\n\nRun `scripts/bisect.sh`.\n"},
                                                   {"scripts/bisect.sh", "#!/bin/sh\ngit bisect run \"$@\"\n"}});
  if (!added) return added;
  added = provider->add("acme/billing/refunds", {{"SKILL.md",
                                                  "---\n"
                                                  "name: refunds\n"
                                                  "description: Process customer refund requests per company policy\n"
                                                  "---\n"
                                                  "# Refunds\n\nSee `examples/email.md`.\n"},
                                                 {"examples/email.md", "Dear customer,\n"}});
  if (!added) return added;
  return target.add(std::move(provider));
}

}  // namespace everything
