/// A file at a revision: its bytes, what a link leads to, or what stands for a submodule.
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "sources/git/file_text.hpp"
#include "sources/git/media.hpp"
#include "sources/git/quotation.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/settings.hpp"
#include "sources/git/side_content.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr std::uint64_t longest_gitmodules = std::uint64_t{1} << 20;
constexpr std::size_t longest_pointer = 1024;

/// What begins with a dot is beside the repository itself, wherever that is.
std::string told_submodule(const std::string& url) {
  return url.starts_with("./") || url.starts_with("../") ? without_credentials(url) : told_address(url);
}

/// Where a submodule is fetched from; nothing where `.gitmodules` does not say, or may not be read by the caller.
std::optional<std::string> submodule_url(const asking& what, const found_file& file) {
  if (!what.hides.shows_file(what.at.rev, ".gitmodules")) return std::nullopt;
  const auto list = find_entry(what.in, file.tree, ".gitmodules");
  if (!list || !is_regular(list->mode)) return std::nullopt;
  const auto text = read_file(what, *list, longest_gitmodules);
  const auto settings = text ? read_settings(text->bytes) : tl::unexpected(misread{});
  if (!settings) return std::nullopt;
  constexpr std::string_view path_key = ".path";
  for (const auto& one : *settings) {
    if (!one.name.starts_with("submodule.") || !one.name.ends_with(path_key) || one.value != what.at.path) continue;
    const auto wanted = one.name.substr(0, one.name.size() - path_key.size()) + ".url";
    for (const auto& other : *settings)
      if (other.name == wanted && other.value) return told_submodule(to_utf8(*other.value).text);
  }
  return std::nullopt;
}

void render_submodule(rendering& made, const asking& what, const found_file& file) {
  const auto url = submodule_url(what, file);
  made.mime_type = "text/plain";
  made.text = "Submodule at commit " + text_of(file.entry.id) + (url ? " of " + *url : std::string()) + '\n';
  made.facts.emplace_back("dev.hondana/submodule-commit", text_of(file.entry.id));
  if (url) made.facts.emplace_back("dev.hondana/submodule-url", *url);
}

/// Source: the specification of git-lfs, section "The Pointer".
void tell_pointer(rendering& made, std::string_view text) {
  if (text.size() > longest_pointer || !text.starts_with("version https://git-lfs.github.com/spec/v1\n")) return;
  const auto value_of = [&](std::string_view key) {
    const auto at = text.find('\n' + std::string(key) + ' ');
    if (at == std::string_view::npos) return std::string_view();
    const auto begin = at + key.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto oid = value_of("oid"), size = value_of("size");
  std::int64_t bytes = 0;
  const auto [end, problem] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (oid.empty() || size.empty() || problem != std::errc() || end != size.data() + size.size()) return;
  made.facts.emplace_back("dev.hondana/lfs-oid", std::string(oid));
  made.facts.emplace_back("dev.hondana/lfs-size", bytes);
}

result<void> render_file(rendering& made, const asking& what, const found_file& file) {
  // A part may be small where the whole is not.
  HONDANA_TRY(auto read, read_file(what, file.entry, what.at.lines ? largest_blob : what.max_bytes));
  if (what.at.lines && !read.is_text)
    return fail(errc::invalid_argument,
                "lines: " + in_quotes(what.at.path, 400) + " is not text. Read it without this parameter.");
  made.mime_type = media_type_of(what.at.path, read.bytes, read.is_text);
  made.form = read.is_text ? content_form::text : content_form::blob;
  if (read.is_text) tell_pointer(made, read.bytes);
  if (!read.encoding.empty()) made.facts.emplace_back("dev.hondana/encoding", read.encoding);
  if (read.masked > 0) made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(read.masked));
  if (!what.at.lines) {
    made.text = std::move(read.bytes);
    return {};
  }
  HONDANA_TRY(const auto lines, cut_lines(read.bytes, what.at.lines));
  made.text = std::string(lines);
  return {};
}

}  // namespace

result<rendering> render_blob(const asking& what) {
  HONDANA_TRY(const auto file, find_file(what));
  auto made = rendering_for(what);
  made.kind = file.entry.kind();
  made.is_fixed = file.is_fixed;
  made.version = text_of(file.entry.id);
  if (file.entry.is_submodule()) {
    render_submodule(made, what, file);
    // What .gitmodules says may change while the commit does not.
    version_by_text(made, what);
    return made;
  }
  if (what.is_enough(made.version) && !what.is_description) return made;
  if (auto read = render_file(made, what, file); !read) {
    // The entry of what is too large to be read can still be told.
    if (!what.is_description || read.error().code != errc::response_too_large) return tl::unexpected(std::move(read.error()));
    made.mime_type = media_type_of(what.at.path, {}, true);
  }
  if (made.text && !what.at.lines) made.size = made.text->size();
  if (file.entry.is_link()) made.mime_type = "text/plain";
  return made;
}

}  // namespace hondana::git
