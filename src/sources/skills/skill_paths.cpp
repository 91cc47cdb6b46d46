/// Paths of skills as URIs, and the media types of their files by name.
#include "sources/skills/skill_paths.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::skills {
namespace {

using extension_type = std::pair<std::string_view, std::string_view>;

/// Types of files that skills often contain: prose, scripts, data, and parts of templates.
constexpr std::array extension_types{
    extension_type{".md", "text/markdown"},
    extension_type{".txt", "text/plain"},
    extension_type{".py", "text/x-python"},
    extension_type{".sh", "application/x-shellscript"},
    extension_type{".js", "text/javascript"},
    extension_type{".mjs", "text/javascript"},
    extension_type{".ts", "text/x-typescript"},
    extension_type{".json", "application/json"},
    extension_type{".jsonl", "application/jsonl"},
    extension_type{".yaml", "application/yaml"},
    extension_type{".yml", "application/yaml"},
    extension_type{".toml", "application/toml"},
    extension_type{".xml", "application/xml"},
    extension_type{".xsd", "application/xml"},
    extension_type{".html", "text/html"},
    extension_type{".css", "text/css"},
    extension_type{".csv", "text/csv"},
    extension_type{".sql", "application/sql"},
    extension_type{".svg", "image/svg+xml"},
    extension_type{".png", "image/png"},
    extension_type{".jpg", "image/jpeg"},
    extension_type{".jpeg", "image/jpeg"},
    extension_type{".gif", "image/gif"},
    extension_type{".webp", "image/webp"},
    extension_type{".pdf", "application/pdf"},
    extension_type{".zip", "application/zip"},
    extension_type{".gz", "application/gzip"},
    extension_type{".ttf", "font/ttf"},
    extension_type{".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    extension_type{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    extension_type{".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
};

bool is_alphanumeric(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9'); }

bool ends_with(std::string_view name, std::string_view suffix) noexcept {
  return name.size() > suffix.size() && ascii::ends_with_ignore_case(name, suffix);
}

}  // namespace

std::string uri_of(std::string_view path) {
  constexpr std::string_view unescaped = "-._~!$&'()*+,;=:@/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "skill://";
  for (const char c : path) {
    if (is_alphanumeric(c) || unescaped.find(c) != std::string_view::npos) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += digits[byte >> 4];
    uri += digits[byte & 15];
  }
  return uri;
}

bool is_slug(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string_view parent_of(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

bool is_below(std::string_view path, std::string_view folder) noexcept {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

std::string_view type_of(std::string_view name) noexcept {
  const auto match = std::find_if(extension_types.begin(), extension_types.end(),
                                  [name](const extension_type& extension) { return ends_with(name, extension.first); });
  return match == extension_types.end() ? std::string_view() : match->second;
}

}  // namespace hondana::skills
