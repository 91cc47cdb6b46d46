/// Rules that choose the configuration files of a folder and their formats.
#include "sources/config_files/file_rules.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t max_path_bytes = 2000;

result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns, std::string_view option) {
  std::string lines;
  for (const auto& pattern : patterns) (lines += pattern) += '\n';
  auto list = ignore::pattern_list::parse(lines, std::string(option));
  if (!list.warnings().empty() || !list.is_complete() || list.size() != patterns.size()) {
    return fail(errc::invalid_argument,
                std::string(option) + ": a pattern cannot match anything. Use the syntax of .gitignore, such as \"*.yaml\"." +
                    (list.warnings().empty() ? std::string() : " " + list.warnings().front()));
  }
  return list;
}

bool matches(const ignore::pattern_list& list, std::string_view path, bool is_folder, bool default_value) {
  const auto match = list.match(path, is_folder, ignore::max_match_steps);
  return match.exceeded_limit ? default_value : match.outcome == ignore::decision::ignored;
}

}  // namespace

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }
std::string_view parent_folder(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

result<file_rules> file_rules::create(const options& options) {
  file_rules rules;
  HONDANA_TRY(auto include, compile_patterns(options.include, "include"));
  HONDANA_TRY(auto exclude, compile_patterns(options.exclude, "exclude"));
  HONDANA_TRY(auto allow, compile_patterns(options.allow, "allow"));
  rules.include_ = std::move(include);
  rules.exclude_ = std::move(exclude);
  rules.allow_ = std::move(allow);
  rules.has_include_ = !options.include.empty();
  rules.show_hidden_ = options.show_hidden;
  rules.redact_ = options.redact;
  rules.environment_format_ = options.environment_format;
  for (const auto& [pattern, format] : options.formats) {
    const bool matches_name = pattern.find('/') == std::string::npos;
    auto glob = matches_name ? ignore::glob::for_name(pattern) : ignore::glob::for_path(pattern);
    if (!glob.error().empty()) {
      return fail(errc::invalid_argument,
                  "formats: the pattern \"" + pattern + "\" cannot match anything: " + std::string(glob.error()));
    }
    rules.formats_.push_back({std::move(glob), matches_name, format});
  }
  return rules;
}

std::optional<located::config_format> file_rules::format_of(std::string_view path) const {
  const auto format = format_by_name(path);
  return format == located::config_format::dotenv ? std::optional(environment_format_) : format;
}

std::optional<located::config_format> file_rules::format_by_name(std::string_view path) const {
  std::uint64_t steps = 0;
  for (const auto& rule : formats_) {
    if (rule.glob.matches(rule.matches_name ? last_name(path) : path, steps, ignore::max_match_steps)) return rule.format;
    if (steps > ignore::max_match_steps) return std::nullopt;
  }
  return located::detect_format(path);
}

std::string file_rules::credential_reason(std::string_view path, bool is_folder) const {
  const auto* rule = secrets::find_secret(path, is_folder);
  if (rule == nullptr || matches(allow_, path, is_folder, false)) return {};
  // Environment files are parsed, so their secrets are masked.
  const auto format = is_folder || !redact_ ? std::nullopt : format_of(path);
  if (format && located::is_environment_format(*format)) return {};
  return "it has the name of a file with credentials (" + std::string(rule->reason) + "); add it to allow to serve it anyway";
}

bool file_rules::matches_path_or_parent(const ignore::pattern_list& patterns, std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (matches(patterns, path.substr(0, slash), true, false)) return true;
  }
  return matches(patterns, path, false, false);
}

std::string file_rules::rejection_reason(std::string_view path, bool is_folder) const {
  if (path.size() > max_path_bytes) return "its path is too long";
  if (!json::is_utf8(path)) return "its name is not UTF-8";
  if (std::any_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return "its name has unprintable characters";
  }
  if (!show_hidden_ && last_name(path).starts_with('.'))
    return "its name begins with a dot; name it in paths, or set hidden = true";
  if (matches(exclude_, path, is_folder, true)) return "it matches exclude";
  if (auto reason = credential_reason(path, is_folder); !reason.empty()) return reason;
  if (is_folder) return {};
  if (!format_of(path)) return "its name has no known format; set one in formats";
  if (has_include_ && !matches_path_or_parent(include_, path)) return "it does not match include";
  return {};
}

std::string file_rules::path_rejection_reason(std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (auto reason = rejection_reason(path.substr(0, slash), true); !reason.empty()) return reason;
  }
  return rejection_reason(path, false);
}

std::string file_rules::target_rejection_reason(std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (auto reason = link_rejection_reason(path.substr(0, slash), true); !reason.empty()) return reason;
  }
  return link_rejection_reason(path, false);
}

std::string file_rules::link_rejection_reason(std::string_view path, bool is_folder) const {
  const bool is_volume = is_folder && !show_hidden_ && last_name(path).starts_with("..");
  if (!is_volume && !show_hidden_ && last_name(path).starts_with('.')) return "the name begins with a dot";
  if (!is_volume && matches(exclude_, path, is_folder, true)) return "the name matches exclude";
  return credential_reason(path, is_folder);
}

bool file_rules::is_in_volume(std::string_view path) const noexcept {
  const auto parent = parent_folder(path);
  return !show_hidden_ && (parent.starts_with("..") || parent.find("/..") != std::string_view::npos);
}

}  // namespace hondana::config_files
