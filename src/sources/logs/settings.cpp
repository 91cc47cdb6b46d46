/// Reads the `[[source]]` table of a log, and creates the source.
#include "sources/logs/settings.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
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

constexpr std::uint64_t min_scan_bytes = 1u << 20;
constexpr std::uint64_t max_scan_bytes = std::uint64_t{1} << 40;
constexpr records::instant max_timeout = 10 * minute;

template <class T, class Read, class... Bounds>
result<void> set_value(config::section& section, std::string_view key, T& output, Read reader, Bounds... bounds) {
  HONDANA_TRY(auto value, (section.*reader)(key, bounds...));
  if (value) output = static_cast<T>(std::move(*value));
  return {};
}

/// Rejects keys that are valid for the other type of log only.
result<void> reject_keys(const config::section& section, std::initializer_list<std::string_view> keys,
                         std::string_view reason) {
  for (const auto key : keys)
    if (section.has(key)) return tl::unexpected(section.error_at(key, reason));
  return {};
}

result<void> read_name(config::section& section, settings& output) {
  const auto name = section.string("name");
  if (!name) return tl::unexpected(name.error());
  if (*name) {
    if (!ascii::is_slug(**name))
      return tl::unexpected(section.error_at(
          "name", "expected at most 64 lower-case letters, digits and hyphens: it becomes NAME in log://NAME/"));
    output.name = **name;
    return {};
  }
  if (output.journal) {
    const auto& units = output.journal->units;
    const auto& names = units.empty() ? output.journal->identifiers : units;
    output.name = names.size() == 1 ? ascii::slugify(names.front().substr(0, names.front().rfind(".service"))) : "journal";
  } else {
    output.name = ascii::slugify(std::filesystem::path(output.files.path).stem().string());
  }
  if (output.name.empty())
    return tl::unexpected(section.error_at("name", "missing, and no name can be derived from the name of the file"));
  return {};
}

result<void> read_file_options(config::section& section, const std::string& path, settings& output) {
  constexpr std::string_view reason = "allowed only for journals: with journal = true and without path";
  HONDANA_TRY(reject_keys(section, {"journal_folder", "units", "identifiers", "min_level"}, reason));
  std::error_code error;
  output.files.path = std::filesystem::absolute(section.resolve_path(path), error).lexically_normal().string();
  if (error || path.empty() || output.files.path.ends_with('/'))
    return tl::unexpected(section.error_at("path", "expected the path of a log file"));
  const auto& own_paths = section.own_files();
  const auto is_inside = [&](const std::string& own_path) {
    return output.files.path == own_path ||
           (output.files.path.starts_with(own_path) && output.files.path[own_path.size()] == '/');
  };
  // Symbolic links in the path, and other names of a file, also lead to the server's own files.
  const std::filesystem::path file = output.files.path;
  const auto real = std::filesystem::canonical(file.parent_path(), error);
  const disk::own_files own_files(own_paths, error ? file.parent_path().string() : real.string());
  struct stat attributes{};
  const bool is_own_file = own_files.has_name(file.filename().string()) ||
                           (::stat(file.c_str(), &attributes) == 0 && own_files.is_hard_link(attributes));
  if (is_own_file || std::any_of(own_paths.begin(), own_paths.end(), is_inside))
    return tl::unexpected(section.error_at("path", "this file belongs to the server itself and is not served"));
  output.files.own_files = own_paths;
  for (const auto& [key, member] : {std::pair("rotated_pattern", &records::file_log_options::pattern),
                                    std::pair("multi_line", &records::file_log_options::multi_line),
                                    std::pair("time_zone", &records::file_log_options::zone)})
    HONDANA_TRY(set_value(section, key, output.files.*member, &config::section::string));
  for (const auto& [key, member] : {std::pair("max_file_bytes", &records::file_log_options::max_file_bytes),
                                    std::pair("max_cached_bytes", &records::file_log_options::max_cached_bytes)})
    HONDANA_TRY(set_value(section, key, output.files.*member, &config::section::bytes));
  return {};
}

result<void> read_journal_options(config::section& section, settings& output) {
  constexpr std::string_view reason = "allowed only for log files: with path and without journal";
  HONDANA_TRY(
      reject_keys(section, {"rotated_pattern", "multi_line", "time_zone", "max_file_bytes", "max_cached_bytes"}, reason));
  journal_options options;
  HONDANA_TRY(const auto folder, section.string("journal_folder"));
  if (folder) {
    std::error_code error;
    options.folder = std::filesystem::absolute(section.resolve_path(*folder), error).lexically_normal().string();
    if (error)
      return tl::unexpected(section.error_at("journal_folder", "the path cannot be made absolute: " + error.message()));
  }
  for (const auto& [key, member] :
       {std::pair("units", &journal_options::units), std::pair("identifiers", &journal_options::identifiers)}) {
    HONDANA_TRY(auto values, section.string_or_strings(key));
    options.*member = std::move(values);
  }
  HONDANA_TRY(const auto level, section.string("min_level"));
  if (level) {
    // Not all spellings that occur in logs: `parse_severity` accepts "eror", too.
    constexpr std::array<std::string_view, 7> known{"trace", "debug", "info", "notice", "warning", "error", "critical"};
    if (std::find(known.begin(), known.end(), *level) == known.end())
      return tl::unexpected(section.unknown_value("min_level", *level, known));
    options.min_level = records::parse_severity(*level);
  }
  output.journal = std::move(options);
  return {};
}

result<void> read_limits(config::section& section, settings& output) {
  HONDANA_TRY(const auto lines, section.integer("lines", 1, static_cast<std::int64_t>(max_lines)));
  if (lines) output.lines = static_cast<std::size_t>(*lines);
  HONDANA_TRY(set_value(section, "max_scanned_bytes", output.max_scanned_bytes, &config::section::bytes));
  if (output.max_scanned_bytes < min_scan_bytes || output.max_scanned_bytes > max_scan_bytes)
    return tl::unexpected(section.error_at("max_scanned_bytes", "expected a size from 1MiB to 1024GiB"));
  for (const bool is_time : {true, false}) {
    const auto* const key = is_time ? "query_timeout" : "lookback";
    HONDANA_TRY(const auto text, section.string(key));
    if (!text) continue;
    const auto duration = parse_duration(*text);
    const bool is_in_range =
        duration && (is_time ? *duration >= 50 * millisecond && *duration <= max_timeout : *duration >= 5 * minute);
    if (!is_in_range)
      return tl::unexpected(
          section.error_at(key, is_time ? "expected the time limit of one answer, from 50ms to 10m, such as \"2s\""
                                        : "expected how far back summaries reach, at least 5m, such as \"24h\""));
    if (is_time) output.timeout = std::chrono::milliseconds(*duration / millisecond);
    if (!is_time) output.lookback = *duration;
  }
  return {};
}

}  // namespace

result<settings> read_settings(config::section& section) {
  settings settings_read;
  const auto path = section.string("path");
  if (!path) return tl::unexpected(path.error());
  const auto journal = section.boolean("journal");
  if (!journal) return tl::unexpected(journal.error());
  if (path->has_value() == journal->value_or(false))
    return tl::unexpected(section.error_at("path", "set either path, the log file, or journal = true"));
  HONDANA_TRY(*path ? read_file_options(section, **path, settings_read) : read_journal_options(section, settings_read));
  HONDANA_TRY(read_name(section, settings_read));
  HONDANA_TRY(set_value(section, "redact", settings_read.redact, &config::section::boolean));
  HONDANA_TRY(set_value(section, "watch", settings_read.watch, &config::section::boolean));
  HONDANA_TRY(read_limits(section, settings_read));
  HONDANA_TRY(section.finish());
  settings_read.files.redact = settings_read.redact;
  if (settings_read.journal) settings_read.journal->redact = settings_read.redact;
  return settings_read;
}

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto parsed, read_settings(section));
  auto backend = parsed.journal ? open_journal(*parsed.journal) : records::open_file_log(parsed.files);
  if (!backend) {
    // Error texts about expressions and zones begin with the option's name, which is the key.
    const std::string_view message = backend.error().public_text;
    for (const std::string_view key : {"path", "rotated_pattern", "multi_line", "time_zone"})
      if (message.starts_with(std::string(key) + ": "))
        return tl::unexpected(section.error_at(key, message.substr(key.size() + 2)));
    return tl::unexpected(section.error_at("journal", message));
  }
  provider_options options;
  options.name = parsed.name;
  options.backend = std::move(*backend);
  options.is_journal = parsed.journal.has_value();
  options.redact = parsed.redact;
  options.watch = parsed.watch;
  options.lines = parsed.lines;
  options.max_scanned_bytes = parsed.max_scanned_bytes;
  options.timeout = parsed.timeout;
  options.lookback = parsed.lookback;
  options.log = log;
  auto created = std::make_shared<log_provider>(std::move(options));
  // Report a wrong path when the server starts, not at the first read.
  created->check();
  return std::shared_ptr<provider>(std::move(created));
}

}  // namespace hondana::logs
