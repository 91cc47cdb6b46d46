/// Telling what is in force.
#include "app/cli/in_force.hpp"

#include <cstddef>

namespace hondana::cli {

std::vector<std::string> in_force(const parts& whole) {
  std::vector<std::string> out;
  if (const auto rules = whole.settings.access.rules.size(); rules != 0) {
    out.push_back("access  " + std::to_string(rules) + (rules == 1 ? " rule" : " rules") +
                  "; resources that no rule matches do not exist for callers");
  }
  for (const auto& one : whole.providers) {
    if (one->masking() == masking::none)
      out.push_back("redact = false  secrets in contents of " + one->name() + " are not masked");
  }
  if (whole.settings.audit) out.push_back("audit  " + whole.settings.audit->path);
  if (whole.settings.tracing) {
    const auto& url = whole.settings.tracing->url;
    out.push_back("tracing  " + url.substr(0, url.find('?')));
  }
  if (const auto& search = whole.settings.search) {
    const auto& where = search->path.empty()
                            ? (search->postgres.empty() ? std::string("in memory") : std::string("in PostgreSQL"))
                            : search->path;
    auto line = "search  index " + where;
    if (search->embeddings) {
      const auto& url = search->embeddings->url;
      line += ", vectors of " + search->embeddings->model + " from " + url.substr(0, url.find('?'));
    }
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace hondana::cli
