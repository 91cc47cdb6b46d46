/// Media types of files, by name and by content.
#include "sources/files/media_type.hpp"

#include <magic.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/ascii/ascii.hpp"
#include "base/bytes/media_type.hpp"
#include "base/json/utf8.hpp"

namespace hondana::files {
namespace {

enum class sort : std::uint8_t { binary, text, document };

struct row {
  std::string_view key;  // lower case; the table is sorted by it
  std::string_view type;
  sort what;
};

// clang-format off
constexpr row types_by_ending[]{
    row{"1", "text/troff", sort::document}, row{"3", "text/troff", sort::document}, row{"5", "text/troff", sort::document},
    row{"7", "text/troff", sort::document}, row{"7z", "application/x-7z-compressed", sort::binary},
    row{"8", "text/troff", sort::document}, row{"a", "application/x-object", sort::binary},
    row{"aac", "audio/aac", sort::binary}, row{"ada", "text/x-ada", sort::text}, row{"adb", "text/x-ada", sort::text},
    row{"adoc", "text/asciidoc", sort::document}, row{"ads", "text/x-ada", sort::text},
    row{"apk", "application/vnd.android.package-archive", sort::binary}, row{"apng", "image/png", sort::binary},
    row{"asciidoc", "text/asciidoc", sort::document}, row{"asm", "text/x-asm", sort::text},
    row{"astro", "text/x-astro", sort::text}, row{"atom", "application/xml", sort::text},
    row{"avi", "video/x-msvideo", sort::binary}, row{"avif", "image/avif", sort::binary}, row{"awk", "text/x-awk", sort::text},
    row{"bash", "text/x-shellscript", sort::text}, row{"bat", "text/x-bat", sort::text},
    row{"bazel", "text/x-bazel", sort::text}, row{"bib", "text/x-bibtex", sort::text},
    row{"bin", "application/octet-stream", sort::binary}, row{"bmp", "image/bmp", sort::binary},
    row{"br", "application/x-brotli", sort::binary}, row{"bz2", "application/x-bzip2", sort::binary},
    row{"bzl", "text/x-bazel", sort::text}, row{"c", "text/x-csrc", sort::text}, row{"c++", "text/x-c++src", sort::text},
    row{"cbl", "text/x-cobol", sort::text}, row{"cc", "text/x-c++src", sort::text}, row{"cfg", "text/x-ini", sort::text},
    row{"cjs", "text/javascript", sort::text}, row{"cl", "text/x-opencl-src", sort::text},
    row{"class", "application/java-vm", sort::binary}, row{"clj", "text/x-clojure", sort::text},
    row{"cljc", "text/x-clojure", sort::text}, row{"cljs", "text/x-clojure", sort::text},
    row{"cls", "text/x-tex", sort::document}, row{"cmake", "text/x-cmake", sort::text}, row{"cmd", "text/x-bat", sort::text},
    row{"cnf", "text/x-ini", sort::text}, row{"cob", "text/x-cobol", sort::text},
    row{"coffee", "text/x-coffeescript", sort::text}, row{"comp", "text/x-glsl", sort::text},
    row{"conf", "text/x-ini", sort::text}, row{"cpp", "text/x-c++src", sort::text}, row{"cr", "text/x-crystal", sort::text},
    row{"cs", "text/x-csharp", sort::text}, row{"css", "text/css", sort::text}, row{"csv", "text/csv", sort::text},
    row{"cts", "text/typescript", sort::text}, row{"cu", "text/x-cuda", sort::text}, row{"cuh", "text/x-cuda", sort::text},
    row{"cur", "image/vnd.microsoft.icon", sort::binary}, row{"cxx", "text/x-c++src", sort::text},
    row{"d", "text/x-dsrc", sort::text}, row{"dart", "text/x-dart", sort::text},
    row{"dat", "application/octet-stream", sort::binary}, row{"db", "application/vnd.sqlite3", sort::binary},
    row{"deb", "application/vnd.debian.binary-package", sort::binary}, row{"desktop", "text/x-systemd-unit", sort::text},
    row{"diff", "text/x-patch", sort::text}, row{"dll", "application/vnd.microsoft.portable-executable", sort::binary},
    row{"dmg", "application/x-apple-diskimage", sort::binary}, row{"doc", "application/msword", sort::binary},
    row{"dockerfile", "text/x-dockerfile", sort::text},
    row{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", sort::binary},
    row{"dot", "text/vnd.graphviz", sort::text}, row{"dtd", "application/xml-dtd", sort::text},
    row{"dylib", "application/x-sharedlib", sort::binary}, row{"editorconfig", "text/x-ini", sort::text},
    row{"edn", "text/x-clojure", sort::text}, row{"el", "text/x-lisp", sort::text}, row{"elm", "text/x-elm", sort::text},
    row{"eot", "application/vnd.ms-fontobject", sort::binary}, row{"epub", "application/epub+zip", sort::binary},
    row{"erl", "text/x-erlang", sort::text}, row{"ex", "text/x-elixir", sort::text},
    row{"exe", "application/vnd.microsoft.portable-executable", sort::binary}, row{"exs", "text/x-elixir", sort::text},
    row{"f", "text/x-fortran", sort::text}, row{"f03", "text/x-fortran", sort::text}, row{"f08", "text/x-fortran", sort::text},
    row{"f77", "text/x-fortran", sort::text}, row{"f90", "text/x-fortran", sort::text},
    row{"f95", "text/x-fortran", sort::text}, row{"fish", "text/x-fish", sort::text}, row{"flac", "audio/flac", sort::binary},
    row{"for", "text/x-fortran", sort::text}, row{"frag", "text/x-glsl", sort::text}, row{"fs", "text/x-fsharp", sort::text},
    row{"fsi", "text/x-fsharp", sort::text}, row{"fsx", "text/x-fsharp", sort::text}, row{"gemspec", "text/x-ruby", sort::text},
    row{"geojson", "application/geo+json", sort::text}, row{"gif", "image/gif", sort::binary},
    row{"glsl", "text/x-glsl", sort::text}, row{"go", "text/x-go", sort::text}, row{"gql", "application/graphql", sort::text},
    row{"gradle", "text/x-groovy", sort::text}, row{"graphql", "application/graphql", sort::text},
    row{"groovy", "text/x-groovy", sort::text}, row{"gv", "text/vnd.graphviz", sort::text},
    row{"gz", "application/gzip", sort::binary}, row{"h", "text/x-chdr", sort::text}, row{"h++", "text/x-c++hdr", sort::text},
    row{"handlebars", "text/x-handlebars", sort::text}, row{"har", "application/json", sort::text},
    row{"hbs", "text/x-handlebars", sort::text}, row{"hcl", "text/x-hcl", sort::text}, row{"heic", "image/heic", sort::binary},
    row{"hh", "text/x-c++hdr", sort::text}, row{"hpp", "text/x-c++hdr", sort::text}, row{"hrl", "text/x-erlang", sort::text},
    row{"hs", "text/x-haskell", sort::text}, row{"htm", "text/html", sort::text}, row{"html", "text/html", sort::text},
    row{"hx", "text/x-haxe", sort::text}, row{"hxx", "text/x-c++hdr", sort::text},
    row{"ico", "image/vnd.microsoft.icon", sort::binary}, row{"ics", "text/calendar", sort::text},
    row{"img", "application/octet-stream", sort::binary}, row{"ini", "text/x-ini", sort::text},
    row{"inl", "text/x-c++src", sort::text}, row{"ipp", "text/x-c++src", sort::text},
    row{"ipynb", "application/x-ipynb+json", sort::text}, row{"iso", "application/x-iso9660-image", sort::binary},
    row{"j2", "text/x-template", sort::text}, row{"jar", "application/java-archive", sort::binary},
    row{"java", "text/x-java", sort::text}, row{"jinja", "text/x-template", sort::text},
    row{"jinja2", "text/x-template", sort::text}, row{"jl", "text/x-julia", sort::text},
    row{"jpeg", "image/jpeg", sort::binary}, row{"jpg", "image/jpeg", sort::binary}, row{"js", "text/javascript", sort::text},
    row{"json", "application/json", sort::text}, row{"json5", "application/json5", sort::text},
    row{"jsonc", "application/jsonc", sort::text}, row{"jsonl", "application/x-ndjson", sort::text},
    row{"jsonld", "application/ld+json", sort::text}, row{"jsonnet", "text/x-jsonnet", sort::text},
    row{"jsx", "text/jsx", sort::text}, row{"ksh", "text/x-shellscript", sort::text}, row{"kt", "text/x-kotlin", sort::text},
    row{"kts", "text/x-kotlin", sort::text}, row{"latex", "text/x-tex", sort::document}, row{"less", "text/x-less", sort::text},
    row{"lhs", "text/x-haskell", sort::text}, row{"libsonnet", "text/x-jsonnet", sort::text},
    row{"lisp", "text/x-lisp", sort::text}, row{"ll", "text/x-llvm", sort::text}, row{"log", "text/x-log", sort::text},
    row{"lsp", "text/x-lisp", sort::text}, row{"ltx", "text/x-tex", sort::document}, row{"lua", "text/x-lua", sort::text},
    row{"m", "text/x-objcsrc", sort::text}, row{"m4a", "audio/mp4", sort::binary}, row{"m4v", "video/mp4", sort::binary},
    row{"mak", "text/x-makefile", sort::text}, row{"man", "text/troff", sort::document},
    row{"markdown", "text/markdown", sort::document}, row{"md", "text/markdown", sort::document},
    row{"mdown", "text/markdown", sort::document}, row{"mdx", "text/mdx", sort::document},
    row{"mht", "multipart/related", sort::text}, row{"mhtml", "multipart/related", sort::text},
    row{"mid", "audio/midi", sort::binary}, row{"midi", "audio/midi", sort::binary}, row{"mjs", "text/javascript", sort::text},
    row{"mk", "text/x-makefile", sort::text}, row{"mkd", "text/markdown", sort::document},
    row{"mkv", "video/x-matroska", sort::binary}, row{"ml", "text/x-ocaml", sort::text}, row{"mli", "text/x-ocaml", sort::text},
    row{"mm", "text/x-objc++src", sort::text}, row{"mov", "video/quicktime", sort::binary},
    row{"mp3", "audio/mpeg", sort::binary}, row{"mp4", "video/mp4", sort::binary}, row{"mpeg", "video/mpeg", sort::binary},
    row{"mpg", "video/mpeg", sort::binary}, row{"mts", "text/typescript", sort::text},
    row{"mustache", "text/x-handlebars", sort::text}, row{"ndjson", "application/x-ndjson", sort::text},
    row{"nim", "text/x-nim", sort::text}, row{"nix", "text/x-nix", sort::text},
    row{"npy", "application/x-numpy-data", sort::binary}, row{"npz", "application/x-numpy-data", sort::binary},
    row{"o", "application/x-object", sort::binary}, row{"obj", "application/x-object", sort::binary},
    row{"odp", "application/vnd.oasis.opendocument.presentation", sort::binary},
    row{"ods", "application/vnd.oasis.opendocument.spreadsheet", sort::binary},
    row{"odt", "application/vnd.oasis.opendocument.text", sort::binary}, row{"oga", "audio/ogg", sort::binary},
    row{"ogg", "audio/ogg", sort::binary}, row{"ogv", "video/ogg", sort::binary}, row{"opus", "audio/ogg", sort::binary},
    row{"org", "text/org", sort::document}, row{"otf", "font/otf", sort::binary},
    row{"parquet", "application/vnd.apache.parquet", sort::binary}, row{"pas", "text/x-pascal", sort::text},
    row{"patch", "text/x-patch", sort::text}, row{"pdf", "application/pdf", sort::binary}, row{"php", "text/x-php", sort::text},
    row{"phtml", "text/x-php", sort::text}, row{"pl", "text/x-perl", sort::text},
    row{"plist", "application/x-plist", sort::text}, row{"pm", "text/x-perl", sort::text},
    row{"png", "image/png", sort::binary}, row{"po", "text/x-gettext-translation", sort::text},
    row{"pot", "text/x-gettext-translation", sort::text}, row{"pp", "text/x-pascal", sort::text},
    row{"ppt", "application/vnd.ms-powerpoint", sort::binary},
    row{"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation", sort::binary},
    row{"properties", "text/x-ini", sort::text}, row{"proto", "text/x-protobuf", sort::text},
    row{"ps1", "text/x-powershell", sort::text}, row{"psd", "image/vnd.adobe.photoshop", sort::binary},
    row{"psd1", "text/x-powershell", sort::text}, row{"psm1", "text/x-powershell", sort::text},
    row{"pxd", "text/x-cython", sort::text}, row{"py", "text/x-python", sort::text},
    row{"pyc", "application/x-python-code", sort::binary}, row{"pyi", "text/x-python", sort::text},
    row{"pyo", "application/x-python-code", sort::binary}, row{"pyw", "text/x-python", sort::text},
    row{"pyx", "text/x-cython", sort::text}, row{"qml", "text/x-qml", sort::text}, row{"r", "text/x-r", sort::text},
    row{"rake", "text/x-ruby", sort::text}, row{"rar", "application/vnd.rar", sort::binary},
    row{"rb", "text/x-ruby", sort::text}, row{"rkt", "text/x-scheme", sort::text},
    row{"rpm", "application/x-rpm", sort::binary}, row{"rs", "text/x-rust", sort::text},
    row{"rss", "application/xml", sort::text}, row{"rst", "text/x-rst", sort::document},
    row{"rtf", "application/rtf", sort::document}, row{"s", "text/x-asm", sort::text}, row{"sass", "text/x-sass", sort::text},
    row{"sbt", "text/x-scala", sort::text}, row{"sc", "text/x-scala", sort::text}, row{"scala", "text/x-scala", sort::text},
    row{"scm", "text/x-scheme", sort::text}, row{"scss", "text/x-scss", sort::text}, row{"sed", "text/x-sed", sort::text},
    row{"service", "text/x-systemd-unit", sort::text}, row{"sh", "text/x-shellscript", sort::text},
    row{"so", "application/x-sharedlib", sort::binary}, row{"socket", "text/x-systemd-unit", sort::text},
    row{"sol", "text/x-solidity", sort::text}, row{"sql", "text/x-sql", sort::text},
    row{"sqlite", "application/vnd.sqlite3", sort::binary}, row{"sqlite3", "application/vnd.sqlite3", sort::binary},
    row{"srt", "application/x-subrip", sort::text}, row{"ss", "text/x-scheme", sort::text},
    row{"star", "text/x-starlark", sort::text}, row{"sty", "text/x-tex", sort::document},
    row{"sv", "text/x-verilog", sort::text}, row{"svelte", "text/x-svelte", sort::text},
    row{"svg", "image/svg+xml", sort::text}, row{"svh", "text/x-verilog", sort::text}, row{"swift", "text/x-swift", sort::text},
    row{"tar", "application/x-tar", sort::binary}, row{"tcc", "text/x-c++src", sort::text},
    row{"tcl", "text/x-tcl", sort::text}, row{"tex", "text/x-tex", sort::document},
    row{"texi", "text/x-texinfo", sort::document}, row{"texinfo", "text/x-texinfo", sort::document},
    row{"text", "text/plain", sort::document}, row{"tf", "text/x-hcl", sort::text}, row{"tfvars", "text/x-hcl", sort::text},
    row{"tgz", "application/gzip", sort::binary}, row{"thrift", "text/x-thrift", sort::text},
    row{"tif", "image/tiff", sort::binary}, row{"tiff", "image/tiff", sort::binary},
    row{"timer", "text/x-systemd-unit", sort::text}, row{"tmpl", "text/x-template", sort::text},
    row{"toml", "application/toml", sort::text}, row{"tpl", "text/x-template", sort::text},
    row{"ts", "text/typescript", sort::text}, row{"tsv", "text/tab-separated-values", sort::text},
    row{"tsx", "text/tsx", sort::text}, row{"ttf", "font/ttf", sort::binary}, row{"txt", "text/plain", sort::document},
    row{"v", "text/x-verilog", sort::text}, row{"vb", "text/x-vb", sort::text}, row{"vcf", "text/vcard", sort::text},
    row{"vert", "text/x-glsl", sort::text}, row{"vh", "text/x-verilog", sort::text}, row{"vhd", "text/x-vhdl", sort::text},
    row{"vhdl", "text/x-vhdl", sort::text}, row{"vim", "text/x-vim", sort::text}, row{"vtt", "text/vtt", sort::text},
    row{"vue", "text/x-vue", sort::text}, row{"war", "application/java-archive", sort::binary},
    row{"wasm", "application/wasm", sort::binary}, row{"wat", "text/x-wat", sort::text}, row{"wav", "audio/wav", sort::binary},
    row{"webm", "video/webm", sort::binary}, row{"webmanifest", "application/json", sort::text},
    row{"webp", "image/webp", sort::binary}, row{"wgsl", "text/wgsl", sort::text}, row{"woff", "font/woff", sort::binary},
    row{"woff2", "font/woff2", sort::binary}, row{"xhtml", "application/xhtml+xml", sort::text},
    row{"xls", "application/vnd.ms-excel", sort::binary},
    row{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", sort::binary},
    row{"xml", "application/xml", sort::text}, row{"xsd", "application/xml", sort::text},
    row{"xsl", "application/xml", sort::text}, row{"xslt", "application/xml", sort::text},
    row{"xz", "application/x-xz", sort::binary}, row{"yaml", "application/yaml", sort::text},
    row{"yml", "application/yaml", sort::text}, row{"zig", "text/x-zig", sort::text},
    row{"zip", "application/zip", sort::binary}, row{"zsh", "text/x-shellscript", sort::text},
    row{"zst", "application/zstd", sort::binary},
};

constexpr row whole_names[]{
    row{".clang-format", "text/plain", sort::text}, row{".clang-tidy", "text/plain", sort::text},
    row{".dockerignore", "text/plain", sort::text}, row{".editorconfig", "text/plain", sort::text},
    row{".gitattributes", "text/plain", sort::text}, row{".gitignore", "text/plain", sort::text},
    row{".gitmodules", "text/plain", sort::text}, row{".hondanaignore", "text/plain", sort::text},
    row{"authors", "text/plain", sort::document}, row{"brewfile", "text/x-ruby", sort::text},
    row{"build", "text/x-bazel", sort::text}, row{"changelog", "text/plain", sort::document},
    row{"changes", "text/plain", sort::document}, row{"cmakelists.txt", "text/x-cmake", sort::text},
    row{"codeowners", "text/plain", sort::text}, row{"containerfile", "text/x-dockerfile", sort::text},
    row{"contributors", "text/plain", sort::document}, row{"copying", "text/plain", sort::document},
    row{"dockerfile", "text/x-dockerfile", sort::text}, row{"fastfile", "text/x-ruby", sort::text},
    row{"gemfile", "text/x-ruby", sort::text}, row{"gnumakefile", "text/x-makefile", sort::text},
    row{"go.mod", "text/x-go-mod", sort::text}, row{"go.sum", "text/plain", sort::text},
    row{"history", "text/plain", sort::document}, row{"install", "text/plain", sort::document},
    row{"jenkinsfile", "text/x-groovy", sort::text}, row{"justfile", "text/plain", sort::text},
    row{"licence", "text/plain", sort::document}, row{"license", "text/plain", sort::document},
    row{"makefile", "text/x-makefile", sort::text}, row{"news", "text/plain", sort::document},
    row{"notice", "text/plain", sort::document}, row{"podfile", "text/x-ruby", sort::text},
    row{"procfile", "text/plain", sort::text}, row{"rakefile", "text/x-ruby", sort::text},
    row{"readme", "text/plain", sort::document}, row{"thanks", "text/plain", sort::document},
    row{"todo", "text/plain", sort::document}, row{"vagrantfile", "text/x-ruby", sort::text},
    row{"version", "text/plain", sort::document}, row{"workspace", "text/x-bazel", sort::text},
};
// clang-format on

constexpr bool is_sorted(const auto& table) {
  return std::is_sorted(std::begin(table), std::end(table), [](const row& a, const row& b) { return a.key < b.key; });
}
static_assert(is_sorted(types_by_ending) && is_sorted(whole_names));

constexpr std::size_t longest_key = 16;

template <std::size_t size>
const row* find(const row (&table)[size], std::string_view key) noexcept {
  if (key.empty() || key.size() > longest_key) return nullptr;
  std::array<char, longest_key> lower{};
  std::transform(key.begin(), key.end(), lower.begin(), [](char c) { return ascii::lower(c); });
  const std::string_view wanted(lower.data(), key.size());
  const auto at = std::lower_bound(std::begin(table), std::end(table), wanted,
                                   [](const row& one, std::string_view k) { return one.key < k; });
  return at != std::end(table) && at->key == wanted ? &*at : nullptr;
}

}  // namespace

mime_type mime_of(std::string_view name) noexcept {
  const row* found = find(whole_names, name);
  if (found == nullptr) {
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    found = find(types_by_ending, name.substr(dot + 1));
  }
  if (found == nullptr) return {};
  return {found->type, found->what != sort::binary, found->what == sort::binary, found->what == sort::document};
}

std::string_view mime_of_kind(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "inode/directory";
    case S_IFLNK:
      return "inode/symlink";
    case S_IFIFO:
      return "inode/fifo";
    case S_IFSOCK:
      return "inode/socket";
    case S_IFCHR:
      return "inode/chardevice";
    case S_IFBLK:
      return "inode/blockdevice";
    default:
      return {};
  }
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

/// The type of a script by the program in its first line, which may have a version suffix.
std::string_view type_of_script(std::string_view front) {
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
  for (const auto& one : interpreters) {
    if (program.starts_with(one.program) &&
        program.find_first_not_of("0123456789.", one.program.size()) == std::string_view::npos) {
      return one.type;
    }
  }
  return "text/plain";
}

/// libmagic behind a lock, because a handle serves one thread at a time. Opened on first use. Never destroyed, because
/// abandoned threads may outlive `main`.
class magic_database {
 public:
  std::string_view type_of(std::string_view front) {
    const std::lock_guard lock(mutex_);
    if (!tried_) {
      tried_ = true;
      open();
    }
    const char* answer = database_ ? ::magic_buffer(database_.get(), front.data(), front.size()) : nullptr;
    if (answer == nullptr) return "application/octet-stream";
    const std::string_view type(answer);
    // There are few real types. A file can name a type in its own text, so the number of types that are accepted is limited.
    if (type.empty() || type.size() > 100 || type.starts_with("text/") || types_.size() >= 1000)
      return "application/octet-stream";
    return *types_.emplace(type).first;
  }

 private:
  struct closer {
    void operator()(magic_set* database) const noexcept { ::magic_close(database); }
  };

  void open() {
    // No decompression and no scan of tar members: only the front is available, and less code processes untrusted bytes.
    database_.reset(::magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_ELF |
                                 MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_CDF |
                                 MAGIC_NO_CHECK_CSV | MAGIC_NO_CHECK_JSON));
    if (database_ && ::magic_load(database_.get(), nullptr) != 0) database_.reset();
  }

  std::mutex mutex_;
  bool tried_ = false;
  std::unique_ptr<magic_set, closer> database_;
  std::set<std::string, std::less<>> types_;
};

/// Whether a front is text. It may end inside a code point.
bool is_text_front(std::string_view front) {
  front.remove_suffix(json::incomplete_tail(front));
  return json::is_utf8(front) && !json::has_nul(front);
}

}  // namespace

std::string_view sniff(std::string_view front, content_form form) {
  front = front.substr(0, head_bytes);
  const bool is_text = form == content_form::text || (form == content_form::detect && is_text_front(front));
  if (is_text) return type_of_script(front);
  if (const auto told = bytes::type_of_signature(front); !told.empty()) return told;
  if (is_text_front(front)) return "application/octet-stream";  // binary only after the front: no format that libmagic knows
  static auto& database = *new magic_database;
  return database.type_of(front);
}

std::string_view agreed_type(std::string_view name, std::string_view front, content_form form) {
  const auto by_name = mime_of(name);
  if (by_name.name.empty()) return sniff(front, form);
  if (form == content_form::detect) form = is_text_front(front.substr(0, head_bytes)) ? content_form::text : content_form::blob;
  const bool is_text = form == content_form::text;
  const auto agreed = bytes::agreeing_type(by_name.name, front, is_text);
  // `agreeing_type` covers formats with a signature. The name decides about binary formats without one, and about text formats.
  if (agreed != by_name.name || bytes::type_of_signature(front) == agreed) return agreed;
  if (!is_text && by_name.is_text) return "application/octet-stream";
  return is_text && by_name.is_binary ? "text/plain" : agreed;
}

void label(content& item, std::string_view name, std::string_view front) {
  const auto found = bytes::active_as(mime_of(name).name, front);
  if (found != bytes::active::no) item.metadata.emplace_back(bytes::active_key, std::string(bytes::type_of(found)));
}

}  // namespace hondana::files
