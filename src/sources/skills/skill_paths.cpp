/// Paths of skills as URIs, and the media types of their files by name.
#include "sources/skills/skill_paths.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/ascii.hpp"

namespace hondana::skills {
namespace {

using ending = std::pair<std::string_view, std::string_view>;

/// Types of files that skills often contain: prose, scripts, data, and parts of templates.
constexpr std::array endings{
    ending{".md", "text/markdown"},
    ending{".txt", "text/plain"},
    ending{".py", "text/x-python"},
    ending{".sh", "application/x-shellscript"},
    ending{".js", "text/javascript"},
    ending{".mjs", "text/javascript"},
    ending{".ts", "text/x-typescript"},
    ending{".json", "application/json"},
    ending{".jsonl", "application/jsonl"},
    ending{".yaml", "application/yaml"},
    ending{".yml", "application/yaml"},
    ending{".toml", "application/toml"},
    ending{".xml", "application/xml"},
    ending{".xsd", "application/xml"},
    ending{".html", "text/html"},
    ending{".css", "text/css"},
    ending{".csv", "text/csv"},
    ending{".sql", "application/sql"},
    ending{".svg", "image/svg+xml"},
    ending{".png", "image/png"},
    ending{".jpg", "image/jpeg"},
    ending{".jpeg", "image/jpeg"},
    ending{".gif", "image/gif"},
    ending{".webp", "image/webp"},
    ending{".pdf", "application/pdf"},
    ending{".zip", "application/zip"},
    ending{".gz", "application/gzip"},
    ending{".ttf", "font/ttf"},
    ending{".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    ending{".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    ending{".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
};

bool is_alphanumeric(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9'); }

bool ends_with(std::string_view name, std::string_view what) noexcept {
  return name.size() > what.size() && ascii::ends_with(name, what);
}

}  // namespace

std::string uri_of(std::string_view path) {
  constexpr std::string_view kept = "-._~!$&'()*+,;=:@/";
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "skill://";
  for (const char c : path) {
    if (is_alphanumeric(c) || kept.find(c) != std::string_view::npos) {
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

bool lies_in(std::string_view path, std::string_view above) noexcept {
  return path.size() > above.size() && path.starts_with(above) && path[above.size()] == '/';
}

std::string_view type_of(std::string_view name) noexcept {
  const auto known =
      std::find_if(endings.begin(), endings.end(), [name](const ending& one) { return ends_with(name, one.first); });
  return known == endings.end() ? std::string_view() : known->second;
}

}  // namespace hondana::skills
