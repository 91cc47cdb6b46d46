/// Makes the source of analyses from its `[[source]]` table.
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "config/section.hpp"
#include "disk/private_file.hpp"
#include "providers/analyses/analyses_provider.hpp"
#include "providers/analyses/describe.hpp"
#include "providers/analyses/settings.hpp"

// The folder's name, as the table of providers has it.
namespace hondana::analyses {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  auto how = wallbounce::read_settings(from);
  if (!how) return tl::unexpected(std::move(how.error()));
  auto needs = wallbounce::needs_of(*how);
  if (!needs) return tl::unexpected(from.wrong(how->redis ? "redis" : "store", needs.error().public_text));
  // Now, since under the sandbox a folder that is not there at its beginning cannot be written to.
  if (!how->redis && !how->path.empty()) {
    const auto folder = std::filesystem::path(how->path).parent_path().string();
    if (auto made = disk::make_private_folder(folder); !made)
      return tl::unexpected(from.wrong("store", made.error().public_text));
  }
  wallbounce::provider_options options;
  options.needs = std::move(*needs);
  options.redact = how->redact;
  options.watch = how->watch;
  options.check_every = how->check_every;
  options.log = log;
  options.open = [how = std::move(*how), log] { return wallbounce::open_cache(how, log); };
  return std::make_shared<wallbounce::analyses_provider>(std::move(options));
}

scheme_documentation describe() { return wallbounce::describe(); }

}  // namespace hondana::analyses
