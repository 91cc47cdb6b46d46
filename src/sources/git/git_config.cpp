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

constexpr std::size_t most_settings = 100'000;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

bool is_key_letter(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

class settings_reader {
 public:
  explicit settings_reader(std::string_view bytes) noexcept : bytes_(bytes) {}

  tl::expected<std::vector<setting>, misread> read() {
    std::vector<setting> all;
    while (!is_over()) {
      const char c = next();
      if (ascii::is_json_space(c)) continue;
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        if (!read_section()) return misread_here();
      } else {
        setting one;
        if (!ascii::is_letter(c)) {
          refuse("a key must begin with a letter");
        } else if (read_setting(c, one)) {
          if (all.size() == most_settings) refuse("there are more than 100000 settings");
          all.push_back(std::move(one));
        }
        if (!why_.empty()) return misread_here();
      }
    }
    return all;
  }

 private:
  [[nodiscard]] bool is_over() const noexcept { return at_ == bytes_.size(); }

  /// The end of the file counts as the end of a line. CR before LF is skipped.
  char next() noexcept {
    if (is_over()) return '\n';
    if (bytes_[at_] == '\r' && at_ + 1 < bytes_.size() && bytes_[at_ + 1] == '\n') ++at_;
    const char c = bytes_[at_++];
    if (c == '\n') ++line_;
    return c;
  }
  void skip_line() noexcept {
    while (!is_over() && next() != '\n') {
    }
  }
  bool refuse(std::string_view why) {
    // If the line ended too early, its end has already been counted.
    refused_at_ = at_ > 0 && bytes_[at_ - 1] == '\n' ? line_ - 1 : line_;
    why_ = why;
    return false;
  }
  tl::unexpected<misread> misread_here() { return tl::unexpected(misread{refused_at_, why_}); }

  bool read_section() {
    section_.clear();
    for (;;) {
      const char c = next();
      if (c == ']') return !section_.empty() || refuse("a section has no name");
      if (ascii::is_json_space(c)) return c == '\n' ? refuse("the line ends inside a section name") : read_subsection();
      if (!is_key_letter(c) && c != '.') return refuse("a section name may contain only letters, digits, '-' and '.'");
      section_ += ascii::lower(c);
    }
  }

  bool read_subsection() {
    char c = ' ';
    while (c != '\n' && ascii::is_json_space(c)) c = next();
    if (c != '"') return refuse("a subsection name must be in double quotes");
    section_ += '.';
    while ((c = next()) != '"') {
      if (c == '\\') c = next();
      if (c == '\n') return refuse("the line ends inside a subsection name");
      section_ += c;
    }
    return next() == ']' || refuse("a section name must end with ']'");
  }

  bool read_setting(char first, setting& into) {
    into.line = line_;
    if (!section_.empty()) into.name = section_ + '.';
    char c = first;
    for (; is_key_letter(c); c = next()) into.name += ascii::lower(c);
    while (c == ' ' || c == '\t') c = next();
    if (c == '\n') return true;
    if (c != '=') return refuse("a key must be followed by '=' or the end of the line");
    return read_value(into.value.emplace());
  }

  bool read_value(std::string& into) {
    bool is_quoted = false;
    for (std::size_t spaces = 0;;) {
      char c = next();
      if (c == '\n') return !is_quoted || refuse("a double quote is not closed on its line");
      if (!is_quoted && ascii::is_json_space(c)) {
        if (!into.empty()) ++spaces;
        continue;
      }
      if (!is_quoted && (c == '#' || c == ';')) {
        skip_line();
        return true;
      }
      into.append(std::exchange(spaces, 0), ' ');
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c != '\\') {
        into += c;
      } else if (!read_escape(into)) {
        return refuse("'\\' must be followed by n, t, b, '\"', '\\' or the end of the line");
      }
    }
  }

  bool read_escape(std::string& into) {
    switch (const char c = next()) {
      case '\n':
        return true;
      case 'n':
        into += '\n';
        return true;
      case 't':
        into += '\t';
        return true;
      case 'b':
        into += '\b';
        return true;
      case '"':
      case '\\':
        into += c;
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t line_ = 1, refused_at_ = 1;
  std::string section_, why_;
};

}  // namespace

tl::expected<std::vector<setting>, misread> read_settings(std::string_view bytes) {
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos) {
    std::size_t line = 1;
    for (const char c : bytes.substr(0, nul)) line += c == '\n' ? 1 : 0;
    return tl::unexpected(misread{line, "the file contains a NUL byte"});
  }
  if (bytes.starts_with(utf8_mark)) bytes.remove_prefix(utf8_mark.size());
  return settings_reader(bytes).read();
}

std::optional<bool> truth_of(const setting& one) {
  if (!one.value) return true;
  const auto& text = *one.value;
  for (const std::string_view word : {"true", "yes", "on"})
    if (ascii::is_same(text, word)) return true;
  for (const std::string_view word : {"false", "no", "off", ""})
    if (ascii::is_same(text, word)) return false;
  long number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number != 0;
}

namespace {

constexpr std::string_view extension_prefix = "extensions.";

std::string place_in(std::string_view file, const setting& one) {
  return std::string(file) + ", line " + std::to_string(one.line) + ": ";
}

tl::unexpected<failure> no_value(std::string_view file, const setting& one, std::string_view wanted) {
  return fail(errc::invalid_argument, place_in(file, one) + one.name + " is " +
                                          (one.value ? in_quotes(*one.value) : "without a value") + ", which is not a " +
                                          std::string(wanted) + ". Correct this line.");
}

bool is_include(std::string_view name) noexcept {
  const auto section = name.substr(0, name.find('.'));
  return section == "include" || section == "includeif";
}

/// Whether libgit2 may see a setting: booleans and encodings that affect responses, and names of branches and remotes. Nothing
/// that names a file or a program.
bool is_kept(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 5> whole{"core.bare", "core.filemode", "core.symlinks", "i18n.commitencoding",
                                                  "i18n.logoutputencoding"};
  if (std::find(whole.begin(), whole.end(), name) != whole.end()) return true;
  const auto is_one_of = [name](std::string_view section, std::string_view a, std::string_view b) {
    if (!name.starts_with(section)) return false;
    const auto key = name.substr(name.rfind('.') + 1);
    return name.size() > section.size() + key.size() && (key == a || key == b);
  };
  return is_one_of("remote.", "url", "fetch") || is_one_of("branch.", "remote", "merge");
}

struct extension {
  std::string_view name;
  std::size_t line = 0;
};

/// Rejects extensions that no version permits, and collects those that version 0 permits.
result<void> screen_extension(const setting& one, std::string_view file, std::vector<extension>& unknown) {
  const auto name = std::string_view(one.name).substr(extension_prefix.size());
  const auto value = one.value ? ascii::in_lower_case(*one.value) : std::string();
  if (name == "objectformat") {
    if (value == "sha1") return {};
    if (value == "sha256")
      return fail(errc::unsupported, place_in(file, one) +
                                         "the repository has SHA-256 objects, which are not supported yet. Serve a clone with "
                                         "SHA-1 objects.");
    return fail(errc::unsupported, place_in(file, one) + "the object format " + in_quotes(value) +
                                       " is not supported. Serve a clone with SHA-1 objects.");
  }
  if (name == "refstorage") {
    if (value == "files") return {};
    if (value == "reftable")
      return fail(errc::unsupported, place_in(file, one) +
                                         "the repository stores its references in a reftable, which is not supported yet. Run "
                                         "`git refs migrate --ref-format=files`.");
    return fail(errc::unsupported, place_in(file, one) + "the reference storage " + in_quotes(value) +
                                       " is not supported. Run `git refs migrate --ref-format=files`.");
  }
  constexpr std::array<std::string_view, 6> harmless{"noop",         "noop-v1",        "preciousobjects",
                                                     "partialclone", "worktreeconfig", "relativeworktrees"};
  if (std::find(harmless.begin(), harmless.end(), name) == harmless.end()) unknown.push_back({name, one.line});
  return {};
}

result<void> screen_setting(const setting& one, std::string_view file, screened_config& into, long& version,
                            std::vector<extension>& unknown) {
  if (is_include(one.name))
    return fail(errc::invalid_argument, place_in(file, one) +
                                            "\"include\" and \"includeIf\" are not followed, since they could read files "
                                            "anywhere. Copy the included settings into this file, and remove them.");
  if (one.name.starts_with(extension_prefix)) {
    HONDANA_TRY(screen_extension(one, file, unknown));
    if (one.name == "extensions.worktreeconfig") {
      const auto is_true = truth_of(one);
      if (!is_true) return no_value(file, one, "boolean");
      into.has_work_tree_config = *is_true;
    }
  } else if (one.name == "core.repositoryformatversion") {
    const auto text = one.value ? std::string_view(*one.value) : std::string_view();
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), version);
    if (problem != std::errc() || end != text.data() + text.size()) return no_value(file, one, "number");
    if (version > 1)
      return fail(errc::unsupported, place_in(file, one) + "the repository format has version " + std::to_string(version) +
                                         ", but only 0 and 1 are supported. Serve a clone made by `git clone`.");
  } else if (one.name == "core.bare") {
    into.is_bare = truth_of(one);
    if (!into.is_bare) return no_value(file, one, "boolean");
  } else if (one.name == "core.worktree") {
    if (!one.value || one.value->empty()) return no_value(file, one, "path");
    into.work_tree = one.value;
  }
  return {};
}

}  // namespace

result<screened_config> screen_config(std::string_view bytes, std::string_view file) {
  auto settings = read_settings(bytes);
  if (!settings)
    return fail(errc::invalid_argument, std::string(file) + ", line " + std::to_string(settings.error().line) + ": " +
                                            settings.error().why + ". git cannot read it either. Correct this line.");
  screened_config found;
  long version = 0;
  std::vector<extension> unknown;
  for (const auto& one : *settings) HONDANA_TRY(screen_setting(one, file, found, version, unknown));
  // Like git, ignores unknown extensions in version 0.
  if (version > 0 && !unknown.empty())
    return fail(errc::unsupported, std::string(file) + ", line " + std::to_string(unknown.front().line) + ": the extension " +
                                       in_quotes(unknown.front().name) +
                                       " is not supported. Serve a clone made by `git clone`, which does not need it.");
  for (auto& one : *settings)
    if (is_kept(one.name)) found.kept.push_back(std::move(one));
  return found;
}

}  // namespace hondana::git
