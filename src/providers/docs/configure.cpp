/// Makes a set of documents from its `[[source]]` table.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "config/section.hpp"
#include "letters/lower_case.hpp"
#include "providers/docs/docs_provider.hpp"
#include "providers/docs/naming.hpp"

namespace hondana::docs {
namespace {

constexpr std::size_t longest_name = 64;
constexpr std::uint64_t most_bytes_of_one = 1ull << 30;
constexpr std::uint64_t least_memory = 64ull << 20;

/// Reads one member after the other; the first error counts.
class table_reader {
 public:
  explicit table_reader(config::section& from) : from_(from) {}

  template <class T>
  std::optional<T> take(result<std::optional<T>> found) {
    if (found) return std::move(*found);
    note(std::move(found.error()));
    return std::nullopt;
  }
  std::optional<std::string> text(std::string_view key) { return take(from_.string(key)); }
  bool truth(std::string_view key, bool otherwise) { return take(from_.boolean(key)).value_or(otherwise); }
  std::vector<std::string> texts(std::string_view key) {
    auto found = from_.string_or_strings(key);
    if (found) return std::move(*found);
    note(std::move(found.error()));
    return {};
  }
  std::uint64_t bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise) {
    const auto said = take(from_.bytes(key)).value_or(otherwise);
    if (said < low || said > high)
      wrong(key, "it is not between " + std::to_string(low) + " and " + std::to_string(high) + " bytes");
    return said;
  }
  void wrong(std::string_view key, std::string_view what) { note(from_.wrong(key, what)); }
  [[nodiscard]] result<void> finish() {
    if (!why_) {
      if (auto done = from_.finish(); !done) note(std::move(done.error()));
    }
    if (why_) return tl::unexpected(std::move(*why_));
    return {};
  }

 private:
  void note(failure why) {
    if (!why_) why_ = std::move(why);
  }
  config::section& from_;
  std::optional<failure> why_;
};

/// A folder's name made of what names of sets are made of.
std::string slug_of(const std::string& path) {
  std::string made;
  for (const char c : letters::in_lower_case(std::filesystem::path(path).filename().string())) {
    const bool is_fit = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_fit) made += c;
    if (!is_fit && !made.empty() && !made.ends_with('-')) made += '-';
  }
  while (made.ends_with('-')) made.pop_back();
  made.resize(std::min(made.size(), longest_name));
  return made.empty() ? "docs" : made;
}

result<options> read_options(config::section& from) {
  table_reader reader(from);
  options made;
  const auto path = reader.text("path");
  if (!path) reader.wrong("path", "missing; name the folder that holds the documents");
  std::error_code problem;
  made.path = std::filesystem::absolute(from.path_from(path.value_or(".")), problem).lexically_normal().string();
  if (problem) reader.wrong("path", "cannot be made absolute: " + problem.message());
  if (made.path.size() > 1 && made.path.ends_with('/')) made.path.pop_back();
  const auto name = reader.text("name");
  if (name && !is_slug(*name)) reader.wrong("name", "expected 1 to 64 of a-z, 0-9 and -");
  made.name = name ? *name : slug_of(made.path);
  made.include = reader.texts("include");
  made.exclude = reader.texts("exclude");
  made.max_bytes = reader.bytes("max_bytes", 1, most_bytes_of_one, made.max_bytes);
  made.ignore_files = reader.truth("ignore_files", made.ignore_files);
  made.originals = reader.truth("originals", made.originals);
  made.redact = reader.truth("redact", made.redact);
  made.watch = reader.truth("watch", made.watch);
  const bool renders = reader.truth("renders", true);
  const auto seconds = reader.take(from.integer("render_seconds", 1, 600));
  if (seconds) made.rendered.time = std::chrono::seconds(*seconds);
  made.rendered.memory = reader.bytes("render_memory", least_memory, 1ull << 36, made.rendered.memory);
  if (auto done = reader.finish(); !done) return tl::unexpected(std::move(done.error()));
  if (renders) made.renderer = rendering::renderer::make();
  made.kept_back = from.kept_back();
  return made;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  auto all = read_options(from);
  if (!all) return tl::unexpected(std::move(all.error()));
  all->log = log;
  auto opened = docs_provider::open(std::move(*all));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto why = std::move(opened.error());
  if (why.code == errc::invalid_argument) why = from.wrong("include", why.public_text);
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::docs
