/// Makes a source of one log from its `[[source]]` table.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/logs/journal.hpp"
#include "sources/logs/log_provider.hpp"
#include "sources/logs/records/file_log.hpp"
#include "sources/logs/settings.hpp"

namespace hondana::logs {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto how, read_settings(from));
  auto opened = how.journal ? open_journal(*how.journal) : records::open_file_log(how.files);
  if (!opened) {
    // Expressions and zones are named by their options, which are the keys.
    const std::string_view said = opened.error().public_text;
    for (const std::string_view key : {"path", "pattern", "multi_line", "zone"})
      if (said.starts_with(std::string(key) + ": ")) return tl::unexpected(from.wrong(key, said.substr(key.size() + 2)));
    return tl::unexpected(from.wrong("journal", said));
  }
  provider_options options;
  options.name = how.name;
  options.of = std::move(*opened);
  options.is_journal = how.journal.has_value();
  options.redact = how.redact;
  options.watch = how.watch;
  options.lines = how.lines;
  options.scanned_bytes = how.scanned_bytes;
  options.time = how.time;
  options.look_back = how.look_back;
  options.log = log;
  auto made = std::make_shared<log_provider>(std::move(options));
  // Whoever starts a server is to hear then, not with the first read, that a path is wrong.
  made->look();
  return std::shared_ptr<provider>(std::move(made));
}

}  // namespace hondana::logs
