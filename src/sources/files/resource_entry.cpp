/// Makes the resource entries of files, with titles and descriptions.
#include "sources/files/resource_entry.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/bytes/media_type.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/files/description.hpp"
#include "sources/files/media_type.hpp"
#include "text/secrets/redactor.hpp"

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
  if (facts.modified != disk::time_beyond_count && facts.modified != -disk::time_beyond_count) {
    entry.annotations.lastModified = std::chrono::sys_time<std::chrono::milliseconds>(
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(facts.modified)));
  }
  of.weights().weigh(path, S_ISDIR(facts.mode), entry.annotations);
  return entry;
}

/// The media type by name, and whether only the content can determine it.
struct named_type {
  std::string_view name;
  bool is_unknown = false;
};

named_type type_of(std::string_view path, mode_t mode) {
  const auto name = S_ISREG(mode) ? mime_of(last_name(path)).name : std::string_view();
  return {name, S_ISREG(mode) && name.empty()};
}

/// What the front of a file says.
struct front_told {
  description about;
  std::string_view sniffed;
  bytes::active found = bytes::active::no;
};

using front_buffer = std::array<char, 2 * head_bytes>;

/// Nothing for a file that has gone or must not be read. A later read reports that.
std::optional<front_told> look_at_front(const root& of, const located& place, const named_type& type, std::uint64_t size,
                                        std::span<char> front) {
  const auto file = place.links.empty() ? of.below()->open_file(place) : tl::unexpected(not_found{});
  const auto count = file ? disk::read_at(file->get(), front.data(), front.size(), 0) : tl::unexpected(0);
  if (!count) return std::nullopt;
  // The bytes that identify a secret in the front may follow shortly after it.
  const auto some = front.first(*count);
  secrets::redactor(of.masking_of(place.path), {some.data(), some.size()}).mask(some);
  const std::string_view seen(front.data(), std::min(*count, head_bytes));
  const auto sniffed = type.is_unknown ? sniff(seen, content_form::detect) : std::string_view();
  return front_told{describe(type.is_unknown ? sniffed : type.name, seen, seen.size() == size), sniffed,
                    bytes::active_by_front(seen)};
}

/// Labels active content, unless the type alone implies it; then the sender of the entry adds the label.
void label_entry(resource& entry, bytes::active found) {
  if (found == bytes::active::no || bytes::active_by_type(entry.mimeType) != bytes::active::no) return;
  entry.metadata.emplace_back(bytes::active_key, std::string(bytes::type_of(found)));
}

}  // namespace

void describe_entry(resource& entry, const root& of, std::string_view path, const located& place) {
  const auto type = type_of(path, place.facts.st_mode);
  if (!type.is_unknown && !is_describable(type.name)) return;
  front_buffer front;
  const auto told = look_at_front(of, place, type, static_cast<std::uint64_t>(place.facts.st_size), front);
  if (!told) return;
  entry.title = told->about.title;
  entry.description = told->about.summary;
  if (entry.mimeType.empty()) entry.mimeType = place.facts.st_size == 0 ? "text/plain" : told->sniffed;
  label_entry(entry, told->found);
}

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
    // It had just changed when it was walked. By now its stamp may be reliable.
    const auto looked_at = disk::wall_clock();
    const auto now = in.of().below()->locate(in.path(index));
    if (now && now->links.empty() && S_ISREG(now->facts.st_mode)) facts = record_of(now->facts, looked_at);
  }
  auto entry = entry_of(in.of(), in.path(index), facts);
  if (const auto* known = in.descriptions()) {
    auto about = known->at(index);
    entry.title = std::move(about.title);
    entry.description = std::move(about.summary);
    if (entry.mimeType.empty()) entry.mimeType = known->sniffed_type(index);
    label_entry(entry, known->found_active(index));
  }
  return entry;
}

std::unique_ptr<const block_descriptions> describe_block(const block& what, const listing* previous) {
  auto found = std::make_unique<block_descriptions>();
  front_buffer front;
  for (std::size_t i = 0; i < what.size(); ++i) {
    const auto& facts = what.at(i);
    const auto path = what.path(i);
    const auto type = type_of(path, facts.mode);
    if ((!type.is_unknown && !is_describable(type.name)) || facts.size == 0) {
      found->add({}, type.is_unknown ? "text/plain" : "");
      continue;
    }
    if (previous != nullptr && facts.has_version()) {
      const auto before = previous->find(what.uri(i));
      const auto* known = before ? before->in->descriptions() : nullptr;
      if (known != nullptr && before->in->at(before->index).version == facts.version) {
        found->add(known->at(before->index), known->sniffed_type(before->index), known->found_active(before->index));
        continue;
      }
    }
    const auto at = what.of().below()->locate(path);
    const auto told = at ? look_at_front(what.of(), *at, type, facts.size, front) : std::nullopt;
    if (told) {
      found->add(told->about, told->sniffed, told->found);
    } else {
      found->add({}, "");
    }
  }
  return found;
}

}  // namespace hondana::files
