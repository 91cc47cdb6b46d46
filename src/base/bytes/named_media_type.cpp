/// Media types of files by their names: the one table for all sources.
#include "base/bytes/named_media_type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/ascii/ascii.hpp"
#include "base/bytes/media_type.hpp"

namespace hondana::bytes {
namespace {

enum class format_kind : std::uint8_t { binary, text, document };

struct row {
  std::string_view key;  // lower case; the table is sorted by it
  std::string_view type;
  format_kind kind;
};

// clang-format off
constexpr row types_by_extension[]{
    row{"1", "text/troff", format_kind::document}, row{"3", "text/troff", format_kind::document}, row{"5", "text/troff", format_kind::document},
    row{"7", "text/troff", format_kind::document}, row{"7z", "application/x-7z-compressed", format_kind::binary},
    row{"8", "text/troff", format_kind::document}, row{"a", "application/x-object", format_kind::binary},
    row{"aac", "audio/aac", format_kind::binary}, row{"ada", "text/x-ada", format_kind::text}, row{"adb", "text/x-ada", format_kind::text},
    row{"adoc", "text/asciidoc", format_kind::document}, row{"ads", "text/x-ada", format_kind::text},
    row{"apk", "application/vnd.android.package-archive", format_kind::binary}, row{"apng", "image/png", format_kind::binary},
    row{"asciidoc", "text/asciidoc", format_kind::document}, row{"asm", "text/x-asm", format_kind::text},
    row{"astro", "text/x-astro", format_kind::text}, row{"atom", "application/xml", format_kind::text},
    row{"avi", "video/x-msvideo", format_kind::binary}, row{"avif", "image/avif", format_kind::binary}, row{"awk", "text/x-awk", format_kind::text},
    row{"bash", "text/x-shellscript", format_kind::text}, row{"bat", "text/x-bat", format_kind::text},
    row{"bazel", "text/x-bazel", format_kind::text}, row{"bib", "text/x-bibtex", format_kind::text},
    row{"bin", "application/octet-stream", format_kind::binary}, row{"bmp", "image/bmp", format_kind::binary},
    row{"br", "application/x-brotli", format_kind::binary}, row{"bz2", "application/x-bzip2", format_kind::binary},
    row{"bzl", "text/x-bazel", format_kind::text}, row{"c", "text/x-csrc", format_kind::text}, row{"c++", "text/x-c++src", format_kind::text},
    row{"cbl", "text/x-cobol", format_kind::text}, row{"cc", "text/x-c++src", format_kind::text}, row{"cfg", "text/x-ini", format_kind::text},
    row{"cjs", "text/javascript", format_kind::text}, row{"cl", "text/x-opencl-src", format_kind::text},
    row{"class", "application/java-vm", format_kind::binary}, row{"clj", "text/x-clojure", format_kind::text},
    row{"cljc", "text/x-clojure", format_kind::text}, row{"cljs", "text/x-clojure", format_kind::text},
    row{"cls", "text/x-tex", format_kind::document}, row{"cmake", "text/x-cmake", format_kind::text}, row{"cmd", "text/x-bat", format_kind::text},
    row{"cnf", "text/x-ini", format_kind::text}, row{"cob", "text/x-cobol", format_kind::text},
    row{"coffee", "text/x-coffeescript", format_kind::text}, row{"comp", "text/x-glsl", format_kind::text},
    row{"conf", "text/x-ini", format_kind::text}, row{"cpp", "text/x-c++src", format_kind::text}, row{"cr", "text/x-crystal", format_kind::text},
    row{"cs", "text/x-csharp", format_kind::text}, row{"css", "text/css", format_kind::text}, row{"csv", "text/csv", format_kind::text},
    row{"cts", "text/typescript", format_kind::text}, row{"cu", "text/x-cuda", format_kind::text}, row{"cuh", "text/x-cuda", format_kind::text},
    row{"cur", "image/vnd.microsoft.icon", format_kind::binary}, row{"cxx", "text/x-c++src", format_kind::text},
    row{"d", "text/x-dsrc", format_kind::text}, row{"dart", "text/x-dart", format_kind::text},
    row{"dat", "application/octet-stream", format_kind::binary}, row{"db", "application/vnd.sqlite3", format_kind::binary},
    row{"deb", "application/vnd.debian.binary-package", format_kind::binary}, row{"desktop", "text/x-systemd-unit", format_kind::text},
    row{"diff", "text/x-patch", format_kind::text}, row{"dll", "application/vnd.microsoft.portable-executable", format_kind::binary},
    row{"dmg", "application/x-apple-diskimage", format_kind::binary}, row{"doc", "application/msword", format_kind::binary},
    row{"dockerfile", "text/x-dockerfile", format_kind::text},
    row{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", format_kind::binary},
    row{"dot", "text/vnd.graphviz", format_kind::text}, row{"dtd", "application/xml-dtd", format_kind::text},
    row{"dylib", "application/x-sharedlib", format_kind::binary}, row{"editorconfig", "text/x-ini", format_kind::text},
    row{"edn", "text/x-clojure", format_kind::text}, row{"el", "text/x-lisp", format_kind::text}, row{"elm", "text/x-elm", format_kind::text},
    row{"eot", "application/vnd.ms-fontobject", format_kind::binary}, row{"epub", "application/epub+zip", format_kind::binary},
    row{"erl", "text/x-erlang", format_kind::text}, row{"ex", "text/x-elixir", format_kind::text},
    row{"exe", "application/vnd.microsoft.portable-executable", format_kind::binary}, row{"exs", "text/x-elixir", format_kind::text},
    row{"f", "text/x-fortran", format_kind::text}, row{"f03", "text/x-fortran", format_kind::text}, row{"f08", "text/x-fortran", format_kind::text},
    row{"f77", "text/x-fortran", format_kind::text}, row{"f90", "text/x-fortran", format_kind::text},
    row{"f95", "text/x-fortran", format_kind::text}, row{"fish", "text/x-fish", format_kind::text}, row{"flac", "audio/flac", format_kind::binary},
    row{"for", "text/x-fortran", format_kind::text}, row{"frag", "text/x-glsl", format_kind::text}, row{"fs", "text/x-fsharp", format_kind::text},
    row{"fsi", "text/x-fsharp", format_kind::text}, row{"fsx", "text/x-fsharp", format_kind::text}, row{"gemspec", "text/x-ruby", format_kind::text},
    row{"geojson", "application/geo+json", format_kind::text}, row{"gif", "image/gif", format_kind::binary},
    row{"glsl", "text/x-glsl", format_kind::text}, row{"go", "text/x-go", format_kind::text}, row{"gql", "application/graphql", format_kind::text},
    row{"gradle", "text/x-groovy", format_kind::text}, row{"graphql", "application/graphql", format_kind::text},
    row{"groovy", "text/x-groovy", format_kind::text}, row{"gv", "text/vnd.graphviz", format_kind::text},
    row{"gz", "application/gzip", format_kind::binary}, row{"h", "text/x-chdr", format_kind::text}, row{"h++", "text/x-c++hdr", format_kind::text},
    row{"handlebars", "text/x-handlebars", format_kind::text}, row{"har", "application/json", format_kind::text},
    row{"hbs", "text/x-handlebars", format_kind::text}, row{"hcl", "text/x-hcl", format_kind::text}, row{"heic", "image/heic", format_kind::binary},
    row{"hh", "text/x-c++hdr", format_kind::text}, row{"hpp", "text/x-c++hdr", format_kind::text}, row{"hrl", "text/x-erlang", format_kind::text},
    row{"hs", "text/x-haskell", format_kind::text}, row{"htm", "text/html", format_kind::text}, row{"html", "text/html", format_kind::text},
    row{"hx", "text/x-haxe", format_kind::text}, row{"hxx", "text/x-c++hdr", format_kind::text},
    row{"ico", "image/vnd.microsoft.icon", format_kind::binary}, row{"ics", "text/calendar", format_kind::text},
    row{"img", "application/octet-stream", format_kind::binary}, row{"ini", "text/x-ini", format_kind::text},
    row{"inl", "text/x-c++src", format_kind::text}, row{"ipp", "text/x-c++src", format_kind::text},
    row{"ipynb", "application/x-ipynb+json", format_kind::text}, row{"iso", "application/x-iso9660-image", format_kind::binary},
    row{"j2", "text/x-template", format_kind::text}, row{"jar", "application/java-archive", format_kind::binary},
    row{"java", "text/x-java", format_kind::text}, row{"jinja", "text/x-template", format_kind::text},
    row{"jinja2", "text/x-template", format_kind::text}, row{"jl", "text/x-julia", format_kind::text},
    row{"jpeg", "image/jpeg", format_kind::binary}, row{"jpg", "image/jpeg", format_kind::binary}, row{"js", "text/javascript", format_kind::text},
    row{"json", "application/json", format_kind::text}, row{"json5", "application/json5", format_kind::text},
    row{"jsonc", "application/jsonc", format_kind::text}, row{"jsonl", "application/x-ndjson", format_kind::text},
    row{"jsonld", "application/ld+json", format_kind::text}, row{"jsonnet", "text/x-jsonnet", format_kind::text},
    row{"jsx", "text/jsx", format_kind::text}, row{"ksh", "text/x-shellscript", format_kind::text}, row{"kt", "text/x-kotlin", format_kind::text},
    row{"kts", "text/x-kotlin", format_kind::text}, row{"latex", "text/x-tex", format_kind::document}, row{"less", "text/x-less", format_kind::text},
    row{"lhs", "text/x-haskell", format_kind::text}, row{"libsonnet", "text/x-jsonnet", format_kind::text},
    row{"lisp", "text/x-lisp", format_kind::text}, row{"ll", "text/x-llvm", format_kind::text}, row{"log", "text/x-log", format_kind::text},
    row{"lsp", "text/x-lisp", format_kind::text}, row{"ltx", "text/x-tex", format_kind::document}, row{"lua", "text/x-lua", format_kind::text},
    row{"m", "text/x-objcsrc", format_kind::text}, row{"m2ts", "video/mp2t", format_kind::binary}, row{"m4a", "audio/mp4", format_kind::binary}, row{"m4v", "video/mp4", format_kind::binary},
    row{"mak", "text/x-makefile", format_kind::text}, row{"man", "text/troff", format_kind::document},
    row{"markdown", "text/markdown", format_kind::document}, row{"md", "text/markdown", format_kind::document},
    row{"mdown", "text/markdown", format_kind::document}, row{"mdx", "text/mdx", format_kind::document},
    row{"mht", "multipart/related", format_kind::text}, row{"mhtml", "multipart/related", format_kind::text},
    row{"mid", "audio/midi", format_kind::binary}, row{"midi", "audio/midi", format_kind::binary}, row{"mjs", "text/javascript", format_kind::text},
    row{"mk", "text/x-makefile", format_kind::text}, row{"mkd", "text/markdown", format_kind::document},
    row{"mkv", "video/x-matroska", format_kind::binary}, row{"ml", "text/x-ocaml", format_kind::text}, row{"mli", "text/x-ocaml", format_kind::text},
    row{"mm", "text/x-objc++src", format_kind::text}, row{"mov", "video/quicktime", format_kind::binary},
    row{"mp3", "audio/mpeg", format_kind::binary}, row{"mp4", "video/mp4", format_kind::binary}, row{"mpeg", "video/mpeg", format_kind::binary},
    row{"mpg", "video/mpeg", format_kind::binary}, row{"mts", "text/typescript", format_kind::text},
    row{"mustache", "text/x-handlebars", format_kind::text}, row{"ndjson", "application/x-ndjson", format_kind::text},
    row{"nim", "text/x-nim", format_kind::text}, row{"nix", "text/x-nix", format_kind::text},
    row{"npy", "application/x-numpy-data", format_kind::binary}, row{"npz", "application/x-numpy-data", format_kind::binary},
    row{"o", "application/x-object", format_kind::binary}, row{"obj", "application/x-object", format_kind::binary},
    row{"odp", "application/vnd.oasis.opendocument.presentation", format_kind::binary},
    row{"ods", "application/vnd.oasis.opendocument.spreadsheet", format_kind::binary},
    row{"odt", "application/vnd.oasis.opendocument.text", format_kind::binary}, row{"oga", "audio/ogg", format_kind::binary},
    row{"ogg", "audio/ogg", format_kind::binary}, row{"ogv", "video/ogg", format_kind::binary}, row{"opus", "audio/ogg", format_kind::binary},
    row{"org", "text/org", format_kind::document}, row{"otf", "font/otf", format_kind::binary},
    row{"parquet", "application/vnd.apache.parquet", format_kind::binary}, row{"pas", "text/x-pascal", format_kind::text},
    row{"patch", "text/x-patch", format_kind::text}, row{"pdf", "application/pdf", format_kind::binary}, row{"php", "text/x-php", format_kind::text},
    row{"phtml", "text/x-php", format_kind::text}, row{"pl", "text/x-perl", format_kind::text},
    row{"plist", "application/x-plist", format_kind::text}, row{"pm", "text/x-perl", format_kind::text},
    row{"png", "image/png", format_kind::binary}, row{"po", "text/x-gettext-translation", format_kind::text},
    row{"pot", "text/x-gettext-translation", format_kind::text}, row{"pp", "text/x-pascal", format_kind::text},
    row{"ppt", "application/vnd.ms-powerpoint", format_kind::binary},
    row{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", format_kind::binary},
    row{"properties", "text/x-ini", format_kind::text}, row{"proto", "text/x-protobuf", format_kind::text},
    row{"ps1", "text/x-powershell", format_kind::text}, row{"psd", "image/vnd.adobe.photoshop", format_kind::binary},
    row{"psd1", "text/x-powershell", format_kind::text}, row{"psm1", "text/x-powershell", format_kind::text},
    row{"pxd", "text/x-cython", format_kind::text}, row{"py", "text/x-python", format_kind::text},
    row{"pyc", "application/x-python-code", format_kind::binary}, row{"pyi", "text/x-python", format_kind::text},
    row{"pyo", "application/x-python-code", format_kind::binary}, row{"pyw", "text/x-python", format_kind::text},
    row{"pyx", "text/x-cython", format_kind::text}, row{"qml", "text/x-qml", format_kind::text}, row{"r", "text/x-r", format_kind::text},
    row{"rake", "text/x-ruby", format_kind::text}, row{"rar", "application/vnd.rar", format_kind::binary},
    row{"rb", "text/x-ruby", format_kind::text}, row{"rkt", "text/x-scheme", format_kind::text},
    row{"rpm", "application/x-rpm", format_kind::binary}, row{"rs", "text/x-rust", format_kind::text},
    row{"rss", "application/xml", format_kind::text}, row{"rst", "text/x-rst", format_kind::document},
    row{"rtf", "application/rtf", format_kind::document}, row{"s", "text/x-asm", format_kind::text}, row{"sass", "text/x-sass", format_kind::text},
    row{"sbt", "text/x-scala", format_kind::text}, row{"sc", "text/x-scala", format_kind::text}, row{"scala", "text/x-scala", format_kind::text},
    row{"scm", "text/x-scheme", format_kind::text}, row{"scss", "text/x-scss", format_kind::text}, row{"sed", "text/x-sed", format_kind::text},
    row{"service", "text/x-systemd-unit", format_kind::text}, row{"sh", "text/x-shellscript", format_kind::text},
    row{"so", "application/x-sharedlib", format_kind::binary}, row{"socket", "text/x-systemd-unit", format_kind::text},
    row{"sol", "text/x-solidity", format_kind::text}, row{"sql", "text/x-sql", format_kind::text},
    row{"sqlite", "application/vnd.sqlite3", format_kind::binary}, row{"sqlite3", "application/vnd.sqlite3", format_kind::binary},
    row{"srt", "application/x-subrip", format_kind::text}, row{"ss", "text/x-scheme", format_kind::text},
    row{"star", "text/x-starlark", format_kind::text}, row{"sty", "text/x-tex", format_kind::document},
    row{"sv", "text/x-verilog", format_kind::text}, row{"svelte", "text/x-svelte", format_kind::text},
    row{"svg", "image/svg+xml", format_kind::text}, row{"svh", "text/x-verilog", format_kind::text}, row{"swift", "text/x-swift", format_kind::text},
    row{"tar", "application/x-tar", format_kind::binary}, row{"tcc", "text/x-c++src", format_kind::text},
    row{"tcl", "text/x-tcl", format_kind::text}, row{"tex", "text/x-tex", format_kind::document},
    row{"texi", "text/x-texinfo", format_kind::document}, row{"texinfo", "text/x-texinfo", format_kind::document},
    row{"text", "text/plain", format_kind::document}, row{"tf", "text/x-hcl", format_kind::text}, row{"tfvars", "text/x-hcl", format_kind::text},
    row{"tgz", "application/gzip", format_kind::binary}, row{"thrift", "text/x-thrift", format_kind::text},
    row{"tif", "image/tiff", format_kind::binary}, row{"tiff", "image/tiff", format_kind::binary},
    row{"timer", "text/x-systemd-unit", format_kind::text}, row{"tmpl", "text/x-template", format_kind::text},
    row{"toml", "application/toml", format_kind::text}, row{"tpl", "text/x-template", format_kind::text},
    row{"ts", "text/typescript", format_kind::text}, row{"tsv", "text/tab-separated-values", format_kind::text},
    row{"tsx", "text/tsx", format_kind::text}, row{"ttf", "font/ttf", format_kind::binary}, row{"txt", "text/plain", format_kind::document},
    row{"v", "text/x-verilog", format_kind::text}, row{"vb", "text/x-vb", format_kind::text}, row{"vcf", "text/vcard", format_kind::text},
    row{"vert", "text/x-glsl", format_kind::text}, row{"vh", "text/x-verilog", format_kind::text}, row{"vhd", "text/x-vhdl", format_kind::text},
    row{"vhdl", "text/x-vhdl", format_kind::text}, row{"vim", "text/x-vim", format_kind::text}, row{"vtt", "text/vtt", format_kind::text},
    row{"vue", "text/x-vue", format_kind::text}, row{"war", "application/java-archive", format_kind::binary},
    row{"wasm", "application/wasm", format_kind::binary}, row{"wat", "text/x-wat", format_kind::text}, row{"wav", "audio/wav", format_kind::binary},
    row{"webm", "video/webm", format_kind::binary}, row{"webmanifest", "application/json", format_kind::text},
    row{"webp", "image/webp", format_kind::binary}, row{"wgsl", "text/wgsl", format_kind::text}, row{"woff", "font/woff", format_kind::binary},
    row{"woff2", "font/woff2", format_kind::binary}, row{"xhtml", "application/xhtml+xml", format_kind::text},
    row{"xls", "application/vnd.ms-excel", format_kind::binary},
    row{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", format_kind::binary},
    row{"xml", "application/xml", format_kind::text}, row{"xsd", "application/xml", format_kind::text},
    row{"xsl", "application/xml", format_kind::text}, row{"xslt", "application/xml", format_kind::text},
    row{"xz", "application/x-xz", format_kind::binary}, row{"yaml", "application/yaml", format_kind::text},
    row{"yml", "application/yaml", format_kind::text}, row{"zig", "text/x-zig", format_kind::text},
    row{"zip", "application/zip", format_kind::binary}, row{"zsh", "text/x-shellscript", format_kind::text},
    row{"zst", "application/zstd", format_kind::binary},
};

constexpr row types_by_name[]{
    row{".clang-format", "text/plain", format_kind::text}, row{".clang-tidy", "text/plain", format_kind::text},
    row{".dockerignore", "text/plain", format_kind::text}, row{".editorconfig", "text/plain", format_kind::text},
    row{".gitattributes", "text/plain", format_kind::text}, row{".gitignore", "text/plain", format_kind::text},
    row{".gitmodules", "text/plain", format_kind::text}, row{".hondanaignore", "text/plain", format_kind::text},
    row{"authors", "text/plain", format_kind::document}, row{"brewfile", "text/x-ruby", format_kind::text},
    row{"build", "text/x-bazel", format_kind::text}, row{"changelog", "text/plain", format_kind::document},
    row{"changes", "text/plain", format_kind::document}, row{"cmakelists.txt", "text/x-cmake", format_kind::text},
    row{"codeowners", "text/plain", format_kind::text}, row{"containerfile", "text/x-dockerfile", format_kind::text},
    row{"contributors", "text/plain", format_kind::document}, row{"copying", "text/plain", format_kind::document},
    row{"dockerfile", "text/x-dockerfile", format_kind::text}, row{"fastfile", "text/x-ruby", format_kind::text},
    row{"gemfile", "text/x-ruby", format_kind::text}, row{"gnumakefile", "text/x-makefile", format_kind::text},
    row{"go.mod", "text/x-go-mod", format_kind::text}, row{"go.sum", "text/plain", format_kind::text},
    row{"history", "text/plain", format_kind::document}, row{"install", "text/plain", format_kind::document},
    row{"jenkinsfile", "text/x-groovy", format_kind::text}, row{"justfile", "text/plain", format_kind::text},
    row{"licence", "text/plain", format_kind::document}, row{"license", "text/plain", format_kind::document},
    row{"makefile", "text/x-makefile", format_kind::text}, row{"news", "text/plain", format_kind::document},
    row{"notice", "text/plain", format_kind::document}, row{"podfile", "text/x-ruby", format_kind::text},
    row{"procfile", "text/plain", format_kind::text}, row{"rakefile", "text/x-ruby", format_kind::text},
    row{"readme", "text/plain", format_kind::document}, row{"thanks", "text/plain", format_kind::document},
    row{"todo", "text/plain", format_kind::document}, row{"vagrantfile", "text/x-ruby", format_kind::text},
    row{"version", "text/plain", format_kind::document}, row{"workspace", "text/x-bazel", format_kind::text},
};
// clang-format on

constexpr bool is_sorted(const auto& table) {
  return std::is_sorted(std::begin(table), std::end(table), [](const row& a, const row& b) { return a.key < b.key; });
}
static_assert(is_sorted(types_by_extension) && is_sorted(types_by_name));

constexpr std::size_t max_key_bytes = 16;

template <std::size_t Size>
const row* find_row(const row (&table)[Size], std::string_view key) noexcept {
  if (key.empty() || key.size() > max_key_bytes) return nullptr;
  std::array<char, max_key_bytes> lower{};
  std::transform(key.begin(), key.end(), lower.begin(), [](char c) { return ascii::to_lower(c); });
  const std::string_view folded_key(lower.data(), key.size());
  const auto match = std::lower_bound(std::begin(table), std::end(table), folded_key,
                                      [](const row& entry, std::string_view k) { return entry.key < k; });
  return match != std::end(table) && match->key == folded_key ? &*match : nullptr;
}

}  // namespace

mime_type mime_type_of(std::string_view name) noexcept {
  const row* match = find_row(types_by_name, name);
  if (match == nullptr) {
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    match = find_row(types_by_extension, name.substr(dot + 1));
  }
  if (match == nullptr) return {};
  return {match->type, match->kind != format_kind::binary, match->kind == format_kind::binary,
          match->kind == format_kind::document};
}

namespace {

struct interpreter {
  std::string_view program;
  std::string_view type;
};

constexpr std::array interpreters{
    interpreter{"python", "text/x-python"},    interpreter{"bash", "text/x-shellscript"},
    interpreter{"sh", "text/x-shellscript"},   interpreter{"zsh", "text/x-shellscript"},
    interpreter{"dash", "text/x-shellscript"}, interpreter{"ksh", "text/x-shellscript"},
    interpreter{"perl", "text/x-perl"},        interpreter{"ruby", "text/x-ruby"},
    interpreter{"node", "text/javascript"},    interpreter{"lua", "text/x-lua"},
    interpreter{"php", "text/x-php"},          interpreter{"awk", "text/x-awk"},
    interpreter{"tclsh", "text/x-tcl"},        interpreter{"make", "text/x-makefile"},
};

}  // namespace

std::string_view script_type_of(std::string_view front) {
  if (!front.starts_with("#!")) return "text/plain";
  auto line = front.substr(2, front.find('\n') - 2);
  std::string_view program;
  while (!line.empty()) {
    const auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    auto word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    if (const auto slash = word.rfind('/'); slash != std::string_view::npos) word.remove_prefix(slash + 1);
    if (word.starts_with('-') || word.find('=') != std::string_view::npos) continue;
    program = word;
    if (program != "env") break;
  }
  for (const auto& entry : interpreters) {
    if (program.starts_with(entry.program) &&
        program.find_first_not_of("0123456789.", entry.program.size()) == std::string_view::npos) {
      return entry.type;
    }
  }
  return "text/plain";
}

std::string_view effective_named_type(std::string_view name, std::string_view front, bool is_text) {
  const auto named = mime_type_of(name);
  if (named.name.empty()) {
    if (is_text) return script_type_of(front);
    const auto sniffed = sniff_media_type(front);
    return sniffed.empty() ? "application/octet-stream" : sniffed;
  }
  const auto effective = effective_media_type(named.name, front, is_text);
  // `effective_media_type` covers formats with a signature. The name decides about binary formats without one, and about text
  // formats.
  if (effective != named.name || sniff_media_type(front) == effective) return effective;
  if (!is_text && named.is_text) return "application/octet-stream";
  return is_text && named.is_binary ? "text/plain" : effective;
}

}  // namespace hondana::bytes
