/// Rules for a repository's settings.
#include "sources/git/screening.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "base/ascii/characters.hpp"
#include "sources/git/quotation.hpp"

namespace hondana::git {
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

/// Truths and numbers that shape answers, and names of branches and remotes. Nothing that names a file or a program.
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

/// Refuses what no version permits, and gathers what version 0 does.
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
  // git ignores extensions that it does not know in version 0, and so do we.
  if (version > 0 && !unknown.empty())
    return fail(errc::unsupported, std::string(file) + ", line " + std::to_string(unknown.front().line) + ": the extension " +
                                       in_quotes(unknown.front().name) +
                                       " is not supported. Serve a clone made by `git clone`, which does not need it.");
  for (auto& one : *settings)
    if (is_kept(one.name)) found.kept.push_back(std::move(one));
  return found;
}

}  // namespace hondana::git
