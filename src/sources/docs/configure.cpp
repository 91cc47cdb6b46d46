/// Makes a set of documents from its `[[source]]` table.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/ascii/slug.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/docs/docs_provider.hpp"
#include "sources/docs/naming.hpp"

namespace hondana::docs {
namespace {

constexpr std::uint64_t most_bytes_of_one = 1ull << 30;
constexpr std::int64_t most_calls = 1024;
constexpr std::uint64_t least_memory = 64ull << 20;

/// A folder's name made of what names of sets are made of.
std::string slug_of(const std::string& path) {
  auto made = ascii::slug_of(std::filesystem::path(path).filename().string());
  return made.empty() ? "docs" : made;
}

result<options> read_options(config::section& from) {
  config::table_reader reader(from);
  options made;
  const auto path = reader.text("path");
  if (!path) reader.wrong("path", "missing; name the folder that holds the documents");
  made.path = reader.path("path", path.value_or("."));
  const auto name = reader.slug("name");
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
  // The server reads it, too; here it says how many may wait for renderings.
  if (const auto calls = reader.take(from.integer("concurrency", 1, most_calls))) made.calls = static_cast<std::size_t>(*calls);
  made.rendered_at_once = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 2, 4);
  made.rendered.memory = reader.bytes("render_memory", least_memory, 1ull << 36, made.rendered.memory);
  HONDANA_TRY(reader.finish());
  if (renders) made.renderer = rendering::renderer::make({}, made.rendered_at_once);
  made.kept_back = from.kept_back();
  return made;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto all, read_options(from));
  all.log = log;
  auto opened = docs_provider::open(std::move(all));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto why = std::move(opened.error());
  if (why.code == errc::invalid_argument) why = from.wrong("include", why.public_text);
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::docs
