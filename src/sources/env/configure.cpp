/// Makes a source of variables from its `[[source]]` table.
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/env/env_provider.hpp"
#include "sources/env/naming.hpp"

namespace hondana::env {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  options with;
  auto allow = from.strings("allow");
  if (!allow) return tl::unexpected(std::move(allow.error()));
  if (auto checked = allow_list::of(*allow); !checked) return tl::unexpected(from.wrong("allow", checked.error().public_text));
  const auto file = from.string("file");
  if (!file) return tl::unexpected(file.error());
  const auto files = from.strings("files");
  if (!files) return tl::unexpected(files.error());
  const auto name = from.string("name");
  if (!name) return tl::unexpected(name.error());
  const auto process = from.boolean("process");
  if (!process) return tl::unexpected(process.error());
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(const auto watch, from.boolean("watch"));
  HONDANA_TRY(from.finish());
  if (*name && !*file)
    return tl::unexpected(from.wrong(
        "name", files->empty()
                    ? "it is the name for the key file, which is missing; set file"
                    : "it is the name for the key file only; entries of files are named after their own file names"));
  if (*name && !is_slug(**name)) {
    return tl::unexpected(from.wrong("name", "expected 1 to 40 of a-z, 0-9 and -, such as prod"));
  }
  if (*file) with.files.push_back({*name ? **name : slug_of(**file), from.path_from(**file)});
  for (const auto& one : *files) with.files.push_back({slug_of(one), from.path_from(one)});
  // Who names files means these.
  if (process->value_or(with.files.empty())) with.process = process_environment();
  if (!with.process && with.files.empty()) {
    return tl::unexpected(from.wrong("process", "nothing else is served; remove this key, or name a file"));
  }
  with.allow = std::move(*allow);
  with.redact = redact.value_or(true);
  with.watch = watch.value_or(true);
  with.kept_back = from.kept_back();
  with.log = log;
  auto opened = env_provider::open(std::move(with));
  if (!opened) {
    auto why = std::move(opened.error());
    if (why.code == errc::source_unavailable || why.code == errc::invalid_argument) {
      const auto code = why.code;
      const auto* key = *file ? "file" : files->empty() ? "allow" : "files";
      auto said = from.wrong(key, why.public_text);
      said.code = code;
      said.private_text = std::move(why.private_text);
      return tl::unexpected(std::move(said));
    }
    return tl::unexpected(std::move(why));
  }
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::env
