/// The formats of configuration files, and parsing a text in any of them.
#include "text/located/format.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/located/format_reader.hpp"

namespace hondana::located {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct named_format {
  format which;
  std::string_view name;
  result<node> (*read)(reading&);
};
constexpr std::array<named_format, 7> formats{{
    {format::toml, "toml", read_toml},
    {format::yaml, "yaml", read_yaml},
    {format::json, "json", read_json},
    {format::ini, "ini", read_ini},
    {format::dotenv, "dotenv", read_dotenv},
    {format::properties, "properties", read_properties},
    {format::systemd, "systemd", read_systemd},
}};

const named_format& entry_of(format which) noexcept {
  return *std::find_if(formats.begin(), formats.end(), [which](const named_format& one) { return one.which == which; });
}

struct name_rule {
  std::string_view name;
  format which;
};

/// Whole file names, in lower case.
constexpr std::array<name_rule, 26> whole_names{{
    {".env", format::dotenv},        {"env", format::dotenv},        {".envrc", format::dotenv},
    {"pipfile", format::toml},       {"cargo.lock", format::toml},   {"poetry.lock", format::toml},
    {".clang-format", format::yaml}, {".clang-tidy", format::yaml},  {".clangd", format::yaml},
    {".yamllint", format::yaml},     {".gitconfig", format::ini},    {".gitmodules", format::ini},
    {"gitconfig", format::ini},      {".editorconfig", format::ini}, {".npmrc", format::ini},
    {".flake8", format::ini},        {".pylintrc", format::ini},     {".coveragerc", format::ini},
    {".my.cnf", format::ini},        {".pypirc", format::ini},       {".babelrc", format::json},
    {".eslintrc", format::json},     {".prettierrc", format::yaml},  {".swcrc", format::json},
    {".jshintrc", format::json},     {"pipfile.lock", format::json},
}};

/// File name endings, in lower case.
constexpr std::array<name_rule, 31> endings{{
    {".toml", format::toml},         {".yaml", format::yaml},
    {".yml", format::yaml},          {".json", format::json},
    {".jsonc", format::json},        {".code-workspace", format::json},
    {".webmanifest", format::json},  {".ini", format::ini},
    {".cnf", format::ini},           {".cfg", format::ini},
    {".desktop", format::ini},       {".gitconfig", format::ini},
    {".env", format::dotenv},        {".properties", format::properties},
    {".service", format::systemd},   {".socket", format::systemd},
    {".timer", format::systemd},     {".mount", format::systemd},
    {".automount", format::systemd}, {".target", format::systemd},
    {".path", format::systemd},      {".swap", format::systemd},
    {".slice", format::systemd},     {".scope", format::systemd},
    {".network", format::systemd},   {".netdev", format::systemd},
    {".link", format::systemd},      {".nspawn", format::systemd},
    {".container", format::systemd}, {".volume", format::systemd},
    {".kube", format::systemd},
}};

/// Configuration files with sections, although their names end with `.conf`.
constexpr std::array<std::string_view, 6> ini_names{"pip.conf",  "supervisord.conf", "php-fpm.conf",
                                                    "mypy.conf", "odbcinst.conf",    "krb.conf"};

/// Configuration files of systemd's own programs.
constexpr std::array<std::string_view, 9> systemd_names{"journald.conf",       "logind.conf",         "resolved.conf",
                                                        "timesyncd.conf",      "networkd.conf",       "coredump.conf",
                                                        "journal-remote.conf", "journal-upload.conf", "oomd.conf"};

bool is_of_systemd(std::string_view name) noexcept {
  return std::any_of(systemd_names.begin(), systemd_names.end(),
                     [name](std::string_view one) { return ascii::is_same(name, one); });
}

/// Whether this is a folder of systemd drop-ins: `nginx.service.d`, `journald.conf.d`.
bool is_of_units(std::string_view folder) noexcept {
  if (!ascii::ends_with(folder, ".d")) return false;
  folder.remove_suffix(2);
  return is_of_systemd(folder) || std::any_of(endings.begin(), endings.end(), [folder](const name_rule& rule) {
           return rule.which == format::systemd && ascii::ends_with(folder, rule.name);
         });
}

/// The beginning of the first line that is not valid UTF-8.
std::size_t first_ill_formed(std::string_view text) {
  json::utf8_stream looked_at;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (!looked_at.feed(text.substr(begin, end - begin)) || !looked_at.is_between()) return begin;
    begin = end;
  }
  return text.size();
}

/// Rejects encodings that no format supports.
result<void> check_encoding(format how, const reading& from) {
  const auto text = from.text();
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return from.wrong(0, "the file is UTF-16, but only UTF-8 is supported; save it as UTF-8");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return from.wrong(nul, "unexpected NUL byte; is the file UTF-16 or half-written?");
  }
  if (how != format::properties && !json::is_utf8(text)) {
    return from.wrong(first_ill_formed(text), "bytes that are not UTF-8");
  }
  return {};
}

void shift(place& at, std::size_t by) noexcept {
  at.begin += by;
  at.end += by;
}

void shift(node& all, std::size_t by) noexcept {
  shift(all.at, by);
  for (auto& item : all.items) shift(item, by);
  for (auto& one : all.members) {
    shift(one.key_at, by);
    shift(one.value, by);
  }
}

}  // namespace

std::string_view name_of(format of) noexcept { return entry_of(of).name; }

std::optional<format> format_named(std::string_view name) noexcept {
  const auto found = std::find_if(formats.begin(), formats.end(), [name](const named_format& one) { return one.name == name; });
  return found == formats.end() ? std::nullopt : std::optional(found->which);
}

std::optional<format> format_of_path(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto folders = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  const auto folder = folders.substr(folders.rfind('/') + 1);
  for (const auto& rule : whole_names) {
    if (ascii::is_same(name, rule.name)) return rule.which;
  }
  if (ascii::is_same(name, "config") && folder == ".git") return format::ini;
  // `.env.production` and similar names, including samples.
  if (ascii::begins_with(name, ".env.")) return format::dotenv;
  for (const auto& rule : endings) {
    if (name.size() > rule.name.size() && ascii::ends_with(name, rule.name)) return rule.which;
  }
  if (!ascii::ends_with(name, ".conf")) return std::nullopt;
  if (is_of_units(folder) || is_of_systemd(name) || folder == "systemd") return format::systemd;
  for (const auto known : ini_names) {
    if (ascii::is_same(name, known)) return format::ini;
  }
  return std::nullopt;
}

result<document> read(format how, std::string_view text, const limits& most) {
  if (text.size() > most.bytes) {
    return fail(errc::response_too_large, "This has " + std::to_string(text.size()) + " bytes, but at most " +
                                              std::to_string(most.bytes) + " are read as configuration.");
  }
  const auto skipped = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  reading from(text.substr(skipped), most);
  HONDANA_TRY(check_encoding(how, from));
  HONDANA_TRY(auto root, entry_of(how).read(from));
  if (skipped != 0) shift(root, skipped);
  return document{std::move(root), from.take_remarks()};
}

result<document> read(format how, std::string_view text) { return read(how, text, limits{}); }

}  // namespace hondana::located
