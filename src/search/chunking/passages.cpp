/// Splits texts into passages for the index, by type and file name.
#include "search/chunking/passages.hpp"

#include <array>
#include <optional>

#include "base/ascii/ascii.hpp"
#include "search/chunking/chunkers.hpp"
#include "text/markup/characters.hpp"

namespace hondana::chunking {
namespace {

struct language {
  std::string_view suffix;
  family syntax;
};

constexpr std::array<language, 88> languages{{{".c", family::c_like},         {".h", family::c_like},
                                              {".cc", family::c_like},        {".cpp", family::c_like},
                                              {".cxx", family::c_like},       {".hh", family::c_like},
                                              {".hpp", family::c_like},       {".hxx", family::c_like},
                                              {".ipp", family::c_like},       {".cu", family::c_like},
                                              {".m", family::c_like},         {".mm", family::c_like},
                                              {".cs", family::c_like},        {".java", family::c_like},
                                              {".groovy", family::c_like},    {".gradle", family::c_like},
                                              {".dart", family::c_like},      {".php", family::c_like},
                                              {".kt", family::keyword},       {".kts", family::keyword},
                                              {".scala", family::keyword},    {".go", family::keyword},
                                              {".rs", family::keyword},       {".swift", family::keyword},
                                              {".py", family::keyword},       {".pyi", family::keyword},
                                              {".rb", family::keyword},       {".rake", family::keyword},
                                              {".pl", family::keyword},       {".pm", family::keyword},
                                              {".js", family::keyword},       {".mjs", family::keyword},
                                              {".cjs", family::keyword},      {".jsx", family::keyword},
                                              {".ts", family::keyword},       {".mts", family::keyword},
                                              {".cts", family::keyword},      {".tsx", family::keyword},
                                              {".vue", family::keyword},      {".svelte", family::keyword},
                                              {".lua", family::keyword},      {".sql", family::keyword},
                                              {".jl", family::keyword},       {".ex", family::keyword},
                                              {".exs", family::keyword},      {".zig", family::keyword},
                                              {".nim", family::keyword},      {".proto", family::keyword},
                                              {".graphql", family::keyword},  {".gql", family::keyword},
                                              {".tf", family::keyword},       {".hcl", family::keyword},
                                              {".ml", family::keyword},       {".mli", family::keyword},
                                              {".fs", family::keyword},       {".sol", family::keyword},
                                              {".v", family::keyword},        {".sv", family::keyword},
                                              {".vb", family::keyword},       {".cr", family::keyword},
                                              {".sh", family::shell},         {".bash", family::shell},
                                              {".zsh", family::shell},        {".ps1", family::shell},
                                              {".awk", family::shell},        {".r", family::assigned},
                                              {".hs", family::assigned},      {".elm", family::assigned},
                                              {".clj", family::lisp},         {".cljs", family::lisp},
                                              {".el", family::lisp},          {".lisp", family::lisp},
                                              {".scm", family::lisp},         {".erl", family::shell},
                                              {".cmake", family::shell},      {".toml", family::sections},
                                              {".ini", family::sections},     {".cfg", family::sections},
                                              {".conf", family::sections},    {".properties", family::sections},
                                              {".service", family::sections}, {".yaml", family::members},
                                              {".yml", family::members},      {".mk", family::members},
                                              {".css", family::selectors},    {".scss", family::selectors},
                                              {".less", family::selectors},   {".xml", family::lines}}};
constexpr std::array<language, 9> file_names{{{"makefile", family::members},
                                              {"gnumakefile", family::members},
                                              {"dockerfile", family::keyword},
                                              {"containerfile", family::keyword},
                                              {"cmakelists.txt", family::shell},
                                              {"rakefile", family::keyword},
                                              {"gemfile", family::keyword},
                                              {"jenkinsfile", family::c_like},
                                              {"vagrantfile", family::keyword}}};
/// Media types, used if the file name does not tell the language.
constexpr std::array<language, 30> media_types{{{"text/x-c", family::c_like},
                                                {"text/x-csrc", family::c_like},
                                                {"text/x-chdr", family::c_like},
                                                {"text/x-c++", family::c_like},
                                                {"text/x-c++src", family::c_like},
                                                {"text/x-c++hdr", family::c_like},
                                                {"text/x-csharp", family::c_like},
                                                {"text/x-java", family::c_like},
                                                {"text/x-java-source", family::c_like},
                                                {"text/x-php", family::c_like},
                                                {"application/x-php", family::c_like},
                                                {"text/x-go", family::keyword},
                                                {"text/x-rust", family::keyword},
                                                {"text/rust", family::keyword},
                                                {"text/x-python", family::keyword},
                                                {"text/x-script.python", family::keyword},
                                                {"text/x-ruby", family::keyword},
                                                {"text/x-perl", family::keyword},
                                                {"text/x-lua", family::keyword},
                                                {"text/javascript", family::keyword},
                                                {"application/javascript", family::keyword},
                                                {"application/typescript", family::keyword},
                                                {"application/sql", family::keyword},
                                                {"text/x-shellscript", family::shell},
                                                {"application/x-sh", family::shell},
                                                {"application/toml", family::sections},
                                                {"application/yaml", family::members},
                                                {"application/x-yaml", family::members},
                                                {"text/css", family::selectors},
                                                {"application/xml", family::lines}}};

std::string_view base_type(std::string_view mime_type) noexcept {
  return markup::trim(mime_type.substr(0, mime_type.find(';')));
}

std::optional<family> family_of(std::string_view type, std::string_view name) noexcept {
  for (const auto& entry : file_names)
    if (ascii::equals_ignore_case(name, entry.suffix)) return entry.syntax;
  for (const auto& extension : languages)
    if (ascii::ends_with_ignore_case(name, extension.suffix)) return extension.syntax;
  for (const auto& media_type : media_types)
    if (ascii::equals_ignore_case(type, media_type.suffix)) return media_type.syntax;
  if (ascii::equals_ignore_case(type, "text/xml") || ascii::ends_with_ignore_case(type, "+xml")) return family::lines;
  return std::nullopt;
}

bool matches_any(std::string_view type, std::string_view name, std::initializer_list<std::string_view> patterns) noexcept {
  for (const auto pattern : patterns)
    if (pattern.front() == '.' ? ascii::ends_with_ignore_case(name, pattern) : ascii::equals_ignore_case(type, pattern))
      return true;
  return false;
}

}  // namespace

chunked_text chunk_text(std::string_view text, std::string_view mime_type, std::string_view name,
                        const chunking_options& options) {
  const auto type = base_type(mime_type);
  if (const auto slash = name.find_last_of('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const auto prose = markup::detect_format(mime_type, name);
  // A media type for markup takes precedence over the file name: rendered office documents keep the name of the original file.
  if (prose && *prose == markup::markup_format::html) return chunk_html(text, options);
  if (prose && *prose != markup::markup_format::plain) return chunk_prose(*prose, text, options);
  if (matches_any(type, name, {"text/csv", ".csv"})) return chunk_rows(text, ',', options);
  if (matches_any(type, name, {"text/tab-separated-values", ".tsv", ".tab"})) return chunk_rows(text, '\t', options);
  if (matches_any(type, name, {"application/x-ndjson", "application/jsonl", ".jsonl", ".ndjson", ".log", ".geojsonl"}))
    return chunk_records(text, options);
  if (matches_any(type, name, {"application/json", "application/json5", ".json", ".jsonc", ".json5", ".geojson", ".ipynb"}) ||
      ascii::ends_with_ignore_case(type, "+json"))
    return chunk_json(text, options);
  if (const auto syntax = family_of(type, name)) return chunk_code(*syntax, text, options);
  return chunk_prose(markup::markup_format::plain, text, options);
}

}  // namespace hondana::chunking
