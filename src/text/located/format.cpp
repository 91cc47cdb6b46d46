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
  config_format format;
  std::string_view name;
  result<node> (*read)(parse_context&);
};
constexpr std::array<named_format, 12> formats{{
    {config_format::toml, "toml", read_toml},
    {config_format::yaml, "yaml", read_yaml},
    {config_format::json, "json", read_json},
    {config_format::ini, "ini", read_ini},
    {config_format::gitconfig, "gitconfig", read_gitconfig},
    {config_format::editorconfig, "editorconfig", read_editorconfig},
    {config_format::desktop, "desktop", read_desktop},
    {config_format::configparser, "configparser", read_configparser},
    {config_format::dotenv, "dotenv", read_dotenv},
    {config_format::compose_env, "compose-env", read_compose_env},
    {config_format::properties, "properties", read_properties},
    {config_format::systemd, "systemd", read_systemd},
}};

const named_format& entry_of(config_format format) noexcept {
  return *std::find_if(formats.begin(), formats.end(), [format](const named_format& entry) { return entry.format == format; });
}

struct name_rule {
  std::string_view name;
  config_format format;
};

/// Whole file names, in lower case.
constexpr std::array<name_rule, 36> file_names{{
    {".env", config_format::dotenv},
    {"env", config_format::dotenv},
    {".envrc", config_format::dotenv},
    {"pipfile", config_format::toml},
    {"cargo.lock", config_format::toml},
    {"poetry.lock", config_format::toml},
    {".clang-format", config_format::yaml},
    {".clang-tidy", config_format::yaml},
    {".clangd", config_format::yaml},
    {".yamllint", config_format::yaml},
    {".prettierrc", config_format::yaml},
    {".gitconfig", config_format::gitconfig},
    {".gitmodules", config_format::gitconfig},
    {"gitconfig", config_format::gitconfig},
    {".editorconfig", config_format::editorconfig},
    {".npmrc", config_format::ini},
    {".my.cnf", config_format::ini},
    {".flake8", config_format::configparser},
    {".pylintrc", config_format::configparser},
    {".coveragerc", config_format::configparser},
    {".pypirc", config_format::configparser},
    {".pep8", config_format::configparser},
    {".isort.cfg", config_format::configparser},
    {"setup.cfg", config_format::configparser},
    {"tox.ini", config_format::configparser},
    {"mypy.ini", config_format::configparser},
    {".mypy.ini", config_format::configparser},
    {"pytest.ini", config_format::configparser},
    {"pip.ini", config_format::configparser},
    {"pip.conf", config_format::configparser},
    {"alembic.ini", config_format::configparser},
    {".babelrc", config_format::json},
    {".eslintrc", config_format::json},
    {".swcrc", config_format::json},
    {".jshintrc", config_format::json},
    {"pipfile.lock", config_format::json},
}};

/// File name endings, in lower case.
constexpr std::array<name_rule, 34> endings{{
    {".toml", config_format::toml},         {".yaml", config_format::yaml},
    {".yml", config_format::yaml},          {".json", config_format::json},
    {".jsonc", config_format::json},        {".code-workspace", config_format::json},
    {".webmanifest", config_format::json},  {".ini", config_format::ini},
    {".cnf", config_format::ini},           {".cfg", config_format::ini},
    {".desktop", config_format::desktop},   {".gitconfig", config_format::gitconfig},
    {".env", config_format::dotenv},        {".properties", config_format::properties},
    {".service", config_format::systemd},   {".socket", config_format::systemd},
    {".timer", config_format::systemd},     {".mount", config_format::systemd},
    {".automount", config_format::systemd}, {".target", config_format::systemd},
    {".path", config_format::systemd},      {".swap", config_format::systemd},
    {".slice", config_format::systemd},     {".scope", config_format::systemd},
    {".network", config_format::systemd},   {".netdev", config_format::systemd},
    {".link", config_format::systemd},      {".nspawn", config_format::systemd},
    {".container", config_format::systemd}, {".volume", config_format::systemd},
    {".kube", config_format::systemd},      {".pod", config_format::systemd},
    {".image", config_format::systemd},     {".build", config_format::systemd},
}};

/// Configuration files with sections, although their names end with `.conf`.
constexpr std::array<std::string_view, 5> ini_names{"supervisord.conf", "php-fpm.conf", "mypy.conf", "odbcinst.conf",
                                                    "krb.conf"};

/// Configuration files of systemd's own programs.
constexpr std::array<std::string_view, 14> systemd_names{
    "system.conf",   "user.conf",           "sleep.conf",          "homed.conf",     "pstore.conf",
    "journald.conf", "logind.conf",         "resolved.conf",       "timesyncd.conf", "networkd.conf",
    "coredump.conf", "journal-remote.conf", "journal-upload.conf", "oomd.conf"};

bool is_systemd_config(std::string_view name) noexcept {
  return std::any_of(systemd_names.begin(), systemd_names.end(),
                     [name](std::string_view candidate) { return ascii::equals_ignore_case(name, candidate); });
}

/// Whether this is a folder of systemd drop-ins: `nginx.service.d`, `journald.conf.d`.
bool is_unit_folder(std::string_view folder) noexcept {
  if (!ascii::ends_with_ignore_case(folder, ".d")) return false;
  folder.remove_suffix(2);
  return is_systemd_config(folder) || std::any_of(endings.begin(), endings.end(), [folder](const name_rule& rule) {
           return rule.format == config_format::systemd && ascii::ends_with_ignore_case(folder, rule.name);
         });
}

/// The beginning of the first line that is not valid UTF-8.
std::size_t first_invalid_line(std::string_view text) {
  json::utf8_stream stream;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    if (!stream.feed(text.substr(begin, end - begin)) || !stream.is_at_boundary()) return begin;
    begin = end;
  }
  return text.size();
}

/// Rejects encodings that no format supports.
result<void> check_encoding(config_format format, const parse_context& context) {
  const auto text = context.text();
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return context.error_at(0, "the file is UTF-16, but only UTF-8 is supported; save it as UTF-8");
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return context.error_at(nul, "unexpected NUL byte; is the file UTF-16 or half-written?");
  }
  if (format != config_format::properties && !json::is_utf8(text)) {
    return context.error_at(first_invalid_line(text), "bytes that are not UTF-8");
  }
  return {};
}

void shift(source_range& range, std::size_t bytes) noexcept {
  range.begin += bytes;
  range.end += bytes;
}

void shift(node& tree, std::size_t bytes) noexcept {
  shift(tree.range, bytes);
  for (auto& item : tree.items) shift(item, bytes);
  for (auto* members : {&tree.members, &tree.replaced}) {
    for (auto& entry : *members) {
      shift(entry.key_range, bytes);
      shift(entry.value, bytes);
    }
  }
}

}  // namespace

std::string_view name_of(config_format format) noexcept { return entry_of(format).name; }

std::optional<config_format> parse_format(std::string_view name) noexcept {
  const auto match =
      std::find_if(formats.begin(), formats.end(), [name](const named_format& entry) { return entry.name == name; });
  return match == formats.end() ? std::nullopt : std::optional(match->format);
}

std::optional<config_format> detect_format(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const auto folders = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  const auto folder = folders.substr(folders.rfind('/') + 1);
  for (const auto& rule : file_names) {
    if (ascii::equals_ignore_case(name, rule.name)) return rule.format;
  }
  if (ascii::equals_ignore_case(name, "config") && folder == ".git") return config_format::gitconfig;
  // Meson's build files and D-Bus's configuration have names that systemd's files have, too.
  if (ascii::equals_ignore_case(name, "meson.build") || folder == "dbus-1") return std::nullopt;
  // `.env.production` and similar names, including samples.
  if (ascii::starts_with_ignore_case(name, ".env.")) return config_format::dotenv;
  for (const auto& rule : endings) {
    if (name.size() > rule.name.size() && ascii::ends_with_ignore_case(name, rule.name)) return rule.format;
  }
  if (!ascii::ends_with_ignore_case(name, ".conf")) return std::nullopt;
  if (is_unit_folder(folder) || is_systemd_config(name) || folder == "systemd") return config_format::systemd;
  for (const auto ini_name : ini_names) {
    if (ascii::equals_ignore_case(name, ini_name)) return config_format::ini;
  }
  return std::nullopt;
}

result<document> read(config_format format, std::string_view text, const parse_limits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(errc::response_too_large, "This has " + std::to_string(text.size()) + " bytes, but at most " +
                                              std::to_string(limits.max_bytes) + " are read as configuration.");
  }
  const auto bom_bytes = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  parse_context context(text.substr(bom_bytes), limits);
  HONDANA_TRY(check_encoding(format, context));
  HONDANA_TRY(auto root, entry_of(format).read(context));
  if (bom_bytes != 0) shift(root, bom_bytes);
  return document{std::move(root), context.release_warnings()};
}

result<document> read(config_format format, std::string_view text) { return read(format, text, parse_limits{}); }

}  // namespace hondana::located
