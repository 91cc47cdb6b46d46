/// Makes a source of one log from its `[[source]]` table.
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "config/section.hpp"
#include "providers/logs/journal.hpp"
#include "providers/logs/log_provider.hpp"
#include "providers/logs/settings.hpp"
#include "records/file_log.hpp"

namespace hondana::logs {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>&) {
  auto how = read_settings(from);
  if (!how) return tl::unexpected(std::move(how.error()));
  auto opened = how->journal ? open_journal(*how->journal) : records::open_file_log(how->files);
  if (!opened) {
    // Expressions and zones are named by their options, which are the keys.
    opened.error().public_text = from.wrong(how->journal ? "journal" : "path", opened.error().public_text).public_text;
    return tl::unexpected(std::move(opened.error()));
  }
  provider_options options;
  options.name = how->name;
  options.of = std::move(*opened);
  options.is_journal = how->journal.has_value();
  options.redact = how->redact;
  options.watch = how->watch;
  options.lines = how->lines;
  options.scanned_bytes = how->scanned_bytes;
  options.time = how->time;
  options.look_back = how->look_back;
  return std::shared_ptr<provider>(std::make_shared<log_provider>(std::move(options)));
}

}  // namespace hondana::logs
