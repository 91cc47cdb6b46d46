/// Rules that choose the configuration files of a folder and their formats.
#include "sources/config_files/file_rules.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t longest_path = 2000;

result<ignore::pattern_list> compiled(const std::vector<std::string>& patterns, std::string_view setting) {
  std::string lines;
  for (const auto& one : patterns) (lines += one) += '\n';
  auto list = ignore::pattern_list::parse(lines, std::string(setting));
  if (!list.warnings().empty() || !list.complete() || list.size() != patterns.size()) {
    return fail(errc::invalid_argument,
                std::string(setting) + ": a pattern cannot match anything. Use the syntax of .gitignore, such as \"*.yaml\"." +
                    (list.warnings().empty() ? std::string() : " " + list.warnings().front()));
  }
  return list;
}

bool matches(const ignore::pattern_list& list, std::string_view path, bool is_folder, bool unless_known) {
  const auto found = list.match(path, is_folder, ignore::most_steps);
  return found.gave_up ? unless_known : found.outcome == ignore::decision::ignored;
}

}  // namespace

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }
std::string_view folder_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

result<rules> rules::from(const options& all) {
  rules made;
  HONDANA_TRY(auto include, compiled(all.include, "include"));
  HONDANA_TRY(auto exclude, compiled(all.exclude, "exclude"));
  HONDANA_TRY(auto allow, compiled(all.allow, "allow"));
  made.include_ = std::move(include);
  made.exclude_ = std::move(exclude);
  made.allow_ = std::move(allow);
  made.has_include_ = !all.include.empty();
  made.hidden_ = all.hidden;
  made.redact_ = all.redact;
  for (const auto& [pattern, how] : all.formats) {
    const bool is_of_name = pattern.find('/') == std::string::npos;
    auto glob = is_of_name ? ignore::glob::for_name(pattern) : ignore::glob::for_path(pattern);
    if (!glob.fault().empty()) {
      return fail(errc::invalid_argument,
                  "formats: the pattern \"" + pattern + "\" cannot match anything: " + std::string(glob.fault()));
    }
    made.formats_.push_back({std::move(glob), is_of_name, how});
  }
  return made;
}

std::optional<located::format> rules::format_of(std::string_view path) const {
  std::uint64_t steps = 0;
  for (const auto& one : formats_) {
    if (one.matches.matches(one.is_of_name ? last_name(path) : path, steps, ignore::most_steps)) return one.how;
    if (steps > ignore::most_steps) return std::nullopt;
  }
  return located::format_of_path(path);
}

std::string rules::credential(std::string_view path, bool is_folder) const {
  const auto* rule = secrets::find_secret(path, is_folder);
  if (rule == nullptr || matches(allow_, path, is_folder, false)) return {};
  // Environment files are parsed, so their secrets are masked.
  if (!is_folder && redact_ && format_of(path) == located::format::dotenv) return {};
  return "it has the name of a file with credentials (" + std::string(rule->reason) + "); add it to allow to serve it anyway";
}

bool rules::matches_with_those_above(const ignore::pattern_list& one, std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (matches(one, path.substr(0, slash), true, false)) return true;
  }
  return matches(one, path, false, false);
}

std::string rules::refusal(std::string_view path, bool is_folder) const {
  if (path.size() > longest_path) return "its path is too long";
  if (!json::is_utf8(path)) return "its name is not UTF-8";
  if (std::any_of(path.begin(), path.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; })) {
    return "its name has unprintable characters";
  }
  if (!hidden_ && last_name(path).starts_with('.')) return "its name begins with a dot; name it in paths, or set hidden = true";
  if (matches(exclude_, path, is_folder, true)) return "it matches exclude";
  if (auto why = credential(path, is_folder); !why.empty()) return why;
  if (is_folder) return {};
  if (!format_of(path)) return "its name has no known format; set one in formats";
  if (has_include_ && !matches_with_those_above(include_, path)) return "it does not match include";
  return {};
}

std::string rules::refusal_of_all(std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (auto why = refusal(path.substr(0, slash), true); !why.empty()) return why;
  }
  return refusal(path, false);
}

std::string rules::refusal_of_target(std::string_view path) const {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (auto why = refusal_on_the_way(path.substr(0, slash), true); !why.empty()) return why;
  }
  return refusal_on_the_way(path, false);
}

std::string rules::refusal_on_the_way(std::string_view path, bool is_folder) const {
  const bool is_volume = is_folder && !hidden_ && last_name(path).starts_with("..");
  if (!is_volume && !hidden_ && last_name(path).starts_with('.')) return "the name begins with a dot";
  if (!is_volume && matches(exclude_, path, is_folder, true)) return "the name matches exclude";
  return credential(path, is_folder);
}

bool rules::is_of_volume(std::string_view path) const noexcept {
  const auto above = folder_of(path);
  return !hidden_ && (above.starts_with("..") || above.find("/..") != std::string_view::npos);
}

}  // namespace hondana::config_files
