/// Making entries, and the second pass.
#include "providers/files/entry.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "bytes/digest.hpp"
#include "providers/files/describe.hpp"
#include "providers/files/mime.hpp"
#include "providers/files/pread.hpp"
#include "providers/files/sniff.hpp"
#include "providers/files/stamp.hpp"

namespace hondana::files {
namespace {

std::string_view last_name(std::string_view path) noexcept {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

resource entry_of(const root& of, std::string_view path, const record& facts) {
  resource entry;
  entry.uri = of.uri_of(path);
  entry.name = of.name_of(path);
  entry.kind = kind_of(facts.mode);
  const bool is_file = S_ISREG(facts.mode);
  entry.mimeType = is_file ? mime_of(last_name(path)).name : mime_of_kind(facts.mode);
  if (is_file) {
    entry.size = facts.size;
    if (facts.has_version()) entry.version = bytes::to_hex(facts.version);
  }
  if (facts.modified != time_beyond_count && facts.modified != -time_beyond_count) {
    entry.annotations.lastModified = std::chrono::sys_time<std::chrono::milliseconds>(
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(facts.modified)));
  }
  of.weights().weigh(path, S_ISDIR(facts.mode), entry.annotations);
  return entry;
}

}  // namespace

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "folder";
  if (S_ISLNK(mode)) return "link";
  return "special";
}

resource entry_of(const root& of, std::string_view path, const struct stat& facts, std::int64_t looked_at) {
  return entry_of(of, path, record_of(facts, looked_at));
}

resource entry_of(const block& in, std::size_t index) {
  auto facts = in.at(index);
  if (S_ISREG(facts.mode) && !facts.has_version()) {
    // It had just changed when it was walked; by now its stamp may tell.
    const auto looked_at = wall_clock();
    const auto now = in.of().below().locate(in.path(index));
    if (now && now->links.empty() && S_ISREG(now->facts.st_mode)) facts = record_of(now->facts, looked_at);
  }
  auto entry = entry_of(in.of(), in.path(index), facts);
  if (const auto* known = in.descriptions()) {
    auto about = known->at(index);
    entry.title = std::move(about.title);
    entry.description = std::move(about.summary);
    if (entry.mimeType.empty()) entry.mimeType = known->sniffed_type(index);
  }
  return entry;
}

std::unique_ptr<const block_descriptions> describe_block(const block& what, const listing* previous) {
  auto found = std::make_unique<block_descriptions>();
  std::array<char, head_bytes> front;
  for (std::size_t i = 0; i < what.size(); ++i) {
    const auto& facts = what.at(i);
    const auto path = what.path(i);
    auto type = S_ISREG(facts.mode) ? mime_of(last_name(path)) : mime_type{};
    const bool is_unknown = S_ISREG(facts.mode) && type.name.empty();
    if ((!is_unknown && !is_describable(type.name)) || facts.size == 0) {
      found->add({}, is_unknown ? "text/plain" : "");
      continue;
    }
    if (previous != nullptr && facts.has_version()) {
      const auto before = previous->find(what.uri(i));
      const auto* known = before ? before->in->descriptions() : nullptr;
      if (known != nullptr && before->in->at(before->index).version == facts.version) {
        found->add(known->at(before->index), known->sniffed_type(before->index));
        continue;
      }
    }
    const auto& below = what.of().below();
    const auto at = below.locate(path);
    const auto file = at && at->links.empty() ? below.open_file(*at) : tl::unexpected(not_found{});
    const auto count = file ? read_at(file->get(), front.data(), front.size(), 0) : tl::unexpected(0);
    if (!count) {  // gone or not for us: a read will say so
      found->add({}, "");
      continue;
    }
    const std::string_view seen(front.data(), *count);
    const auto sniffed = is_unknown ? sniff(seen, content_form::detect) : std::string_view();
    found->add(describe(is_unknown ? sniffed : type.name, seen, *count == facts.size), sniffed);
  }
  return found;
}

}  // namespace hondana::files
