/// Makes the source of analyses from its `[[source]]` table.
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "os/disk/private_file.hpp"
#include "sources/analyses/analyses_provider.hpp"
#include "sources/analyses/describe.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/config/section.hpp"

// The folder's name, as the table of providers has it.
namespace hondana::analyses {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  auto how = analyses_source::read_settings(from);
  if (!how) return tl::unexpected(std::move(how.error()));
  auto needs = analyses_source::needs_of(*how);
  if (!needs) return tl::unexpected(from.wrong(how->redis ? "redis" : "store", needs.error().public_text));
  // Now, since under the sandbox a folder that is not there at its beginning cannot be written to.
  if (!how->redis && !how->path.empty()) {
    const auto folder = std::filesystem::path(how->path).parent_path().string();
    if (auto made = disk::make_private_folder(folder); !made)
      return tl::unexpected(from.wrong("store", made.error().public_text));
  }
  analyses_source::provider_options options;
  options.needs = std::move(*needs);
  options.redact = how->redact;
  options.watch = how->watch;
  options.check_every = how->check_every;
  options.log = log;
  options.open = [how = std::move(*how), log] { return analyses_source::open_cache(how, log); };
  return std::make_shared<analyses_source::analyses_provider>(std::move(options));
}

scheme_documentation describe() { return analyses_source::describe(); }

}  // namespace hondana::analyses
