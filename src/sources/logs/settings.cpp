/// Reads the `[[source]]` table of a log, and creates the source.
#include "sources/logs/settings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/section.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/journal.hpp"
#include "sources/logs/log_provider.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/records/file_log.hpp"

namespace hondana::logs {
namespace {

constexpr std::uint64_t least_scan = 1u << 20;
constexpr std::uint64_t most_scan = std::uint64_t{1} << 40;
constexpr records::instant longest_time = 10 * minute;

template <class T, class Read, class... Bounds>
result<void> take_value(config::section& from, std::string_view key, T& into, Read read, Bounds... bounds) {
  HONDANA_TRY(auto value, (from.*read)(key, bounds...));
  if (value) into = static_cast<T>(std::move(*value));
  return {};
}

/// Rejects keys that are valid for the other type of log only.
result<void> refuse_keys(const config::section& from, std::initializer_list<std::string_view> keys, std::string_view why) {
  for (const auto key : keys)
    if (from.has(key)) return tl::unexpected(from.wrong(key, why));
  return {};
}

result<void> read_name(config::section& from, settings& into) {
  const auto name = from.string("name");
  if (!name) return tl::unexpected(name.error());
  if (*name) {
    if (!ascii::is_slug(**name))
      return tl::unexpected(
          from.wrong("name", "expected at most 64 lower-case letters, digits and hyphens: it becomes NAME in log://NAME/"));
    into.name = **name;
    return {};
  }
  if (into.journal) {
    const auto& units = into.journal->units;
    const auto& of = units.empty() ? into.journal->identifiers : units;
    into.name = of.size() == 1 ? ascii::slug_of(of.front().substr(0, of.front().rfind(".service"))) : "journal";
  } else {
    into.name = ascii::slug_of(std::filesystem::path(into.files.path).stem().string());
  }
  if (into.name.empty())
    return tl::unexpected(from.wrong("name", "missing, and no name can be derived from the name of the file"));
  return {};
}

result<void> read_files(config::section& from, const std::string& written, settings& into) {
  constexpr std::string_view why = "allowed only for journals: with journal = true and without path";
  HONDANA_TRY(refuse_keys(from, {"journal_folder", "units", "identifiers", "priority"}, why));
  std::error_code problem;
  into.files.path = std::filesystem::absolute(from.path_from(written), problem).lexically_normal().string();
  if (problem || written.empty() || into.files.path.ends_with('/'))
    return tl::unexpected(from.wrong("path", "expected the path of a log file"));
  const auto& back = from.kept_back();
  const auto is_above = [&](const std::string& one) {
    return into.files.path == one || (into.files.path.starts_with(one) && into.files.path[one.size()] == '/');
  };
  // Symbolic links in the path, and other names of a file, also lead to the server's own files.
  const std::filesystem::path file = into.files.path;
  const auto real = std::filesystem::canonical(file.parent_path(), problem);
  const disk::own_files own(back, problem ? file.parent_path().string() : real.string());
  struct stat facts{};
  const bool is_own = own.has_name(file.filename().string()) || (::stat(file.c_str(), &facts) == 0 && own.is_one(facts));
  if (is_own || std::any_of(back.begin(), back.end(), is_above))
    return tl::unexpected(from.wrong("path", "this file belongs to the server itself and is not served"));
  into.files.kept_back = back;
  for (const auto& [key, member] :
       {std::pair("pattern", &records::file_log_options::pattern),
        std::pair("multi_line", &records::file_log_options::multi_line), std::pair("zone", &records::file_log_options::zone)})
    HONDANA_TRY(take_value(from, key, into.files.*member, &config::section::string));
  for (const auto& [key, member] : {std::pair("member_bytes", &records::file_log_options::member_bytes),
                                    std::pair("kept_bytes", &records::file_log_options::kept_bytes)})
    HONDANA_TRY(take_value(from, key, into.files.*member, &config::section::bytes));
  return {};
}

result<void> read_journal(config::section& from, settings& into) {
  constexpr std::string_view why = "allowed only for log files: with path and without journal";
  HONDANA_TRY(refuse_keys(from, {"pattern", "multi_line", "zone", "member_bytes", "kept_bytes"}, why));
  journal_options how;
  HONDANA_TRY(const auto folder, from.string("journal_folder"));
  if (folder) {
    std::error_code problem;
    how.folder = std::filesystem::absolute(from.path_from(*folder), problem).lexically_normal().string();
    if (problem) return tl::unexpected(from.wrong("journal_folder", "the path cannot be made absolute: " + problem.message()));
  }
  for (const auto& [key, member] :
       {std::pair("units", &journal_options::units), std::pair("identifiers", &journal_options::identifiers)}) {
    HONDANA_TRY(auto all, from.string_or_strings(key));
    how.*member = std::move(all);
  }
  const auto priority = from.string("priority");
  if (!priority) return tl::unexpected(priority.error());
  if (*priority) {
    how.at_least = records::severity_named(**priority);
    if (!how.at_least)
      return tl::unexpected(from.wrong(
          "priority", "expected one of debug, info, notice, warning, error and critical: the minimum level to serve"));
  }
  into.journal = std::move(how);
  return {};
}

result<void> read_budgets(config::section& from, settings& into) {
  HONDANA_TRY(const auto lines, from.integer("lines", 1, static_cast<std::int64_t>(most_lines)));
  if (lines) into.lines = static_cast<std::size_t>(*lines);
  HONDANA_TRY(take_value(from, "scan", into.scanned_bytes, &config::section::bytes));
  if (into.scanned_bytes < least_scan || into.scanned_bytes > most_scan)
    return tl::unexpected(from.wrong("scan", "expected a size from 1MiB to 1024GiB"));
  for (const bool is_time : {true, false}) {
    const auto* const key = is_time ? "time" : "look_back";
    HONDANA_TRY(const auto text, from.string(key));
    if (!text) continue;
    const auto span = parse_span(*text);
    const bool fits = span && (is_time ? *span >= 50 * millisecond && *span <= longest_time : *span >= 5 * minute);
    if (!fits)
      return tl::unexpected(from.wrong(key, is_time ? "expected the time limit of one answer, from 50ms to 10m, such as \"2s\""
                                                    : "expected how far back summaries reach, at least 5m, such as \"24h\""));
    if (is_time) into.time = std::chrono::milliseconds(*span / millisecond);
    if (!is_time) into.look_back = *span;
  }
  return {};
}

}  // namespace

result<settings> read_settings(config::section& from) {
  settings out;
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  const auto journal = from.boolean("journal");
  if (!journal) return tl::unexpected(journal.error());
  if (path->has_value() == journal->value_or(false))
    return tl::unexpected(from.wrong("path", "set either path, the log file, or journal = true"));
  HONDANA_TRY(*path ? read_files(from, **path, out) : read_journal(from, out));
  HONDANA_TRY(read_name(from, out));
  HONDANA_TRY(take_value(from, "redact", out.redact, &config::section::boolean));
  HONDANA_TRY(take_value(from, "watch", out.watch, &config::section::boolean));
  HONDANA_TRY(read_budgets(from, out));
  HONDANA_TRY(from.finish());
  out.files.redact = out.redact;
  if (out.journal) out.journal->redact = out.redact;
  return out;
}

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto how, read_settings(from));
  auto opened = how.journal ? open_journal(*how.journal) : records::open_file_log(how.files);
  if (!opened) {
    // Error texts about expressions and zones begin with the option's name, which is the key.
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
  // Report a wrong path when the server starts, not at the first read.
  made->look();
  return std::shared_ptr<provider>(std::move(made));
}

}  // namespace hondana::logs
