/// Fuzzes git configurations as repositories of others bring them: no crash, bounded work, nothing let through that could lead
/// elsewhere, and what was read reads the same when it is written down again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/utf8.hpp"
#include "sources/git/git_config.hpp"

namespace {

using namespace hondana::git;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string escaped(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out += '"';
}

/// Another way to write the same settings: a section for each.
std::string written_down(const std::vector<setting>& all) {
  std::string out;
  for (const auto& one : all) {
    const auto first = one.name.find('.'), last = one.name.rfind('.');
    if (first != std::string::npos) {
      out += '[' + one.name.substr(0, first);
      if (first != last || first == 0) out += ' ' + escaped(one.name.substr(first + 1, last - first - 1));
      out += "]\n";
    }
    out += one.name.substr(last + 1);  // all of it where there is no section
    if (one.value) out += " = " + escaped(*one.value);
    out += '\n';
  }
  return out;
}

bool is_same_but_for_lines(const std::vector<setting>& a, const std::vector<setting>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const setting& x, const setting& y) { return x.name == y.name && x.value == y.value; });
}

bool names_a_way_out(std::string_view name) {
  const auto section = name.substr(0, name.find('.'));
  return section == "include" || section == "includeif";
}

bool may_be_kept(std::string_view name) {
  return name.starts_with("core.") || name.starts_with("i18n.") || name.starts_with("remote.") || name.starts_with("branch.");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1;
  const auto all = parse_settings(bytes);
  const auto screened = screen_config(bytes, "config");
  if (!screened) {
    require(!screened.error().public_text.empty() && screened.error().public_text.size() < 1000);
    require(hondana::json::is_utf8(screened.error().public_text));
  }
  if (!all) {
    require(all.error().line >= 1 && all.error().line <= lines && !all.error().reason.empty() && !screened);
    return 0;
  }
  std::size_t line = 1;
  for (const auto& one : *all) {
    require(one.line >= line && one.line <= lines && !one.name.empty() && one.name.find('\0') == std::string::npos);
    line = one.line;
    if (names_a_way_out(one.name)) require(!screened);
    (void)parse_bool(one);
  }
  const auto again = parse_settings(written_down(*all));
  require(again && is_same_but_for_lines(*all, *again));
  if (screened)
    for (const auto& one : screened->allowed)
      require(may_be_kept(one.name) && std::find(all->begin(), all->end(), one) != all->end());
  return 0;
}
