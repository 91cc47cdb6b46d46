/// Parses git configuration files, and decides which of their settings are used.
#include "sources/git/git_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_settings = 100'000;
constexpr std::string_view utf8_bom = "\xEF\xBB\xBF";

bool is_key_character(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

class settings_parser {
 public:
  explicit settings_parser(std::string_view bytes) noexcept : bytes_(bytes) {}

  tl::expected<std::vector<setting>, config_error> parse() {
    std::vector<setting> settings;
    while (!is_at_end()) {
      const char c = next();
      if (ascii::is_json_space(c)) continue;
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        if (!parse_section()) return error();
      } else {
        setting entry;
        if (!ascii::is_letter(c)) {
          reject("a key must begin with a letter");
        } else if (parse_setting(c, entry)) {
          if (settings.size() == max_settings) reject("there are more than 100000 settings");
          settings.push_back(std::move(entry));
        }
        if (!reason_.empty()) return error();
      }
    }
    return settings;
  }

 private:
  [[nodiscard]] bool is_at_end() const noexcept { return position_ == bytes_.size(); }

  /// The end of the file counts as the end of a line. CR before LF is skipped.
  char next() noexcept {
    if (is_at_end()) return '\n';
    if (bytes_[position_] == '\r' && position_ + 1 < bytes_.size() && bytes_[position_ + 1] == '\n') ++position_;
    const char c = bytes_[position_++];
    if (c == '\n') ++line_;
    return c;
  }
  void skip_line() noexcept {
    while (!is_at_end() && next() != '\n') {
    }
  }
  bool reject(std::string_view reason) {
    // If the line ended too early, its end has already been counted.
    error_line_ = position_ > 0 && bytes_[position_ - 1] == '\n' ? line_ - 1 : line_;
    reason_ = reason;
    return false;
  }
  tl::unexpected<config_error> error() { return tl::unexpected(config_error{error_line_, reason_}); }

  bool parse_section() {
    section_.clear();
    for (;;) {
      const char c = next();
      if (c == ']') return !section_.empty() || reject("a section has no name");
      if (ascii::is_json_space(c)) return c == '\n' ? reject("the line ends inside a section name") : parse_subsection();
      if (!is_key_character(c) && c != '.') return reject("a section name may contain only letters, digits, '-' and '.'");
      section_ += ascii::to_lower(c);
    }
  }

  bool parse_subsection() {
    char c = ' ';
    while (c != '\n' && ascii::is_json_space(c)) c = next();
    if (c != '"') return reject("a subsection name must be in double quotes");
    section_ += '.';
    while ((c = next()) != '"') {
      if (c == '\\') c = next();
      if (c == '\n') return reject("the line ends inside a subsection name");
      section_ += c;
    }
    return next() == ']' || reject("a section name must end with ']'");
  }

  bool parse_setting(char first, setting& target) {
    target.line = line_;
    if (!section_.empty()) target.name = section_ + '.';
    char c = first;
    for (; is_key_character(c); c = next()) target.name += ascii::to_lower(c);
    while (c == ' ' || c == '\t') c = next();
    if (c == '\n') return true;
    if (c != '=') return reject("a key must be followed by '=' or the end of the line");
    return parse_value(target.value.emplace());
  }

  bool parse_value(std::string& value) {
    bool is_quoted = false;
    for (std::size_t spaces = 0;;) {
      char c = next();
      if (c == '\n') return !is_quoted || reject("a double quote is not closed on its line");
      if (!is_quoted && ascii::is_json_space(c)) {
        if (!value.empty()) ++spaces;
        continue;
      }
      if (!is_quoted && (c == '#' || c == ';')) {
        skip_line();
        return true;
      }
      value.append(std::exchange(spaces, 0), ' ');
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c != '\\') {
        value += c;
      } else if (!parse_escape(value)) {
        return reject("'\\' must be followed by n, t, b, '\"', '\\' or the end of the line");
      }
    }
  }

  bool parse_escape(std::string& value) {
    switch (const char c = next()) {
      case '\n':
        return true;
      case 'n':
        value += '\n';
        return true;
      case 't':
        value += '\t';
        return true;
      case 'b':
        value += '\b';
        return true;
      case '"':
      case '\\':
        value += c;
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  std::size_t position_ = 0;
  std::size_t line_ = 1, error_line_ = 1;
  std::string section_, reason_;
};

}  // namespace

tl::expected<std::vector<setting>, config_error> parse_settings(std::string_view bytes) {
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos) {
    std::size_t line = 1;
    for (const char c : bytes.substr(0, nul)) line += c == '\n' ? 1 : 0;
    return tl::unexpected(config_error{line, "the file contains a NUL byte"});
  }
  if (bytes.starts_with(utf8_bom)) bytes.remove_prefix(utf8_bom.size());
  return settings_parser(bytes).parse();
}

std::optional<bool> parse_bool(const setting& entry) {
  if (!entry.value) return true;
  const auto& text = *entry.value;
  for (const std::string_view word : {"true", "yes", "on"})
    if (ascii::equals_ignore_case(text, word)) return true;
  for (const std::string_view word : {"false", "no", "off", ""})
    if (ascii::equals_ignore_case(text, word)) return false;
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number != 0;
}

namespace {

constexpr std::string_view extension_prefix = "extensions.";

std::string location_prefix(std::string_view file, const setting& entry) {
  return std::string(file) + ", line " + std::to_string(entry.line) + ": ";
}

tl::unexpected<failure> invalid_setting(std::string_view file, const setting& entry, std::string_view expected) {
  return fail(errc::invalid_argument, location_prefix(file, entry) + entry.name + " is " +
                                          (entry.value ? quote(*entry.value) : "without a value") + ", which is not a " +
                                          std::string(expected) + ". Correct this line.");
}

bool is_include(std::string_view name) noexcept {
  const auto section = name.substr(0, name.find('.'));
  return section == "include" || section == "includeif";
}

/// Whether libgit2 may see a setting: booleans, limits, line ends and encodings that affect responses, and names of branches
/// and remotes. Nothing that names a file or a program.
bool is_allowed_setting(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 10> exact_names{
      "core.autocrlf",          "core.bare",           "core.eol",
      "core.filemode",          "core.symlinks",       "core.usereplacerefs",
      "diff.renamelimit",       "i18n.commitencoding", "i18n.logoutputencoding",
      "extensions.partialclone"};
  if (std::find(exact_names.begin(), exact_names.end(), name) != exact_names.end()) return true;
  const auto matches_key = [name](std::string_view section, std::string_view a, std::string_view b) {
    if (!name.starts_with(section)) return false;
    const auto key = name.substr(name.rfind('.') + 1);
    return name.size() > section.size() + key.size() && (key == a || key == b);
  };
  return matches_key("remote.", "url", "fetch") || matches_key("remote.", "promisor", "promisor") ||
         matches_key("branch.", "remote", "merge");
}

struct extension {
  std::string_view name;
  std::size_t line = 0;
};

/// Rejects extensions that no version permits, and collects those that version 0 permits.
result<void> screen_extension(const setting& entry, std::string_view file, std::vector<extension>& unknown) {
  const auto name = std::string_view(entry.name).substr(extension_prefix.size());
  const auto value = entry.value ? ascii::to_lower(*entry.value) : std::string();
  if (name == "objectformat") {
    if (value == "sha1") return {};
    if (value == "sha256")
      return fail(errc::unsupported, location_prefix(file, entry) +
                                         "the repository has SHA-256 objects, which are not supported yet. Serve a clone with "
                                         "SHA-1 objects.");
    return fail(errc::unsupported, location_prefix(file, entry) + "the object format " + quote(value) +
                                       " is not supported. Serve a clone with SHA-1 objects.");
  }
  if (name == "refstorage") {
    if (value == "files") return {};
    if (value == "reftable")
      return fail(errc::unsupported, location_prefix(file, entry) +
                                         "the repository stores its references in a reftable, which is not supported yet. Run "
                                         "`git refs migrate --ref-format=files`.");
    return fail(errc::unsupported, location_prefix(file, entry) + "the reference storage " + quote(value) +
                                       " is not supported. Run `git refs migrate --ref-format=files`.");
  }
  constexpr std::array<std::string_view, 6> harmless{"noop",         "noop-v1",        "preciousobjects",
                                                     "partialclone", "worktreeconfig", "relativeworktrees"};
  if (std::find(harmless.begin(), harmless.end(), name) == harmless.end()) unknown.push_back({name, entry.line});
  return {};
}

result<void> screen_setting(const setting& entry, std::string_view file, screened_config& target, long& version,
                            std::vector<extension>& unknown) {
  if (is_include(entry.name))
    return fail(errc::invalid_argument, location_prefix(file, entry) +
                                            "\"include\" and \"includeIf\" are not followed, since they could read files "
                                            "anywhere. Copy the included settings into this file, and remove them.");
  if (entry.name.starts_with(extension_prefix)) {
    HONDANA_TRY(screen_extension(entry, file, unknown));
    if (entry.name == "extensions.worktreeconfig") {
      const auto is_true = parse_bool(entry);
      if (!is_true) return invalid_setting(file, entry, "boolean");
      target.has_work_tree_config = *is_true;
    }
  } else if (entry.name == "core.repositoryformatversion") {
    const auto text = entry.value ? std::string_view(*entry.value) : std::string_view();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (error != std::errc() || end != text.data() + text.size()) return invalid_setting(file, entry, "number");
    if (version > 1)
      return fail(errc::unsupported, location_prefix(file, entry) + "the repository format has version " +
                                         std::to_string(version) +
                                         ", but only 0 and 1 are supported. Serve a clone made by `git clone`.");
  } else if (entry.name == "core.bare") {
    target.is_bare = parse_bool(entry);
    if (!target.is_bare) return invalid_setting(file, entry, "boolean");
  } else if (entry.name == "core.worktree") {
    if (!entry.value || entry.value->empty()) return invalid_setting(file, entry, "path");
    target.work_tree = entry.value;
  }
  return {};
}

}  // namespace

result<screened_config> screen_config(std::string_view bytes, std::string_view file) {
  auto settings = parse_settings(bytes);
  if (!settings)
    return fail(errc::invalid_argument, std::string(file) + ", line " + std::to_string(settings.error().line) + ": " +
                                            settings.error().reason + ". git cannot read it either. Correct this line.");
  screened_config screened;
  long version = 0;
  std::vector<extension> unknown;
  for (const auto& entry : *settings) HONDANA_TRY(screen_setting(entry, file, screened, version, unknown));
  // Like git, ignores unknown extensions in version 0.
  if (version > 0 && !unknown.empty())
    return fail(errc::unsupported, std::string(file) + ", line " + std::to_string(unknown.front().line) + ": the extension " +
                                       quote(unknown.front().name) +
                                       " is not supported. Serve a clone made by `git clone`, which does not need it.");
  for (auto& setting_entry : *settings)
    if (is_allowed_setting(setting_entry.name)) screened.allowed.push_back(std::move(setting_entry));
  return screened;
}

}  // namespace hondana::git
