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

resource make_entry(const served_root& root, std::string_view path, const record& record) {
  resource entry;
  entry.uri = root.uri_of(path);
  entry.name = root.name_of(path);
  entry.kind = kind_of(record.mode);
  const bool is_file = S_ISREG(record.mode);
  entry.mime_type = is_file ? mime_type_of(last_name(path)).name : mime_type_of_mode(record.mode);
  if (is_file) {
    entry.size = record.size;
    if (record.has_version()) entry.version = bytes::to_hex(record.version);
  }
  if (record.modified != disk::time_out_of_range && record.modified != -disk::time_out_of_range) {
    entry.annotations.last_modified = std::chrono::sys_time<std::chrono::milliseconds>(
        std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(record.modified)));
  }
  root.priorities().annotate(path, S_ISDIR(record.mode), entry.annotations);
  return entry;
}

/// The media type of an empty file, if it differs from the type by name.
std::string_view type_of_empty_file(std::string_view path) {
  const auto type = effective_mime_type(last_name(path), {}, content_kind::text);
  return type == mime_type_of(last_name(path)).name ? std::string_view() : type;
}

/// What the front of a file says.
struct front_description {
  description text;
  std::string_view sniffed_type;  // empty: the content does not contradict the name
  bytes::active_content active = bytes::active_content::none;
};

using front_buffer = std::array<char, 2 * head_bytes>;

/// Nothing for a file that has gone or must not be read. A later read reports that.
std::optional<front_description> describe_front(const served_root& root, const disk::resolved_path& resolved,
                                                std::uint64_t size, std::span<char> front) {
  const auto file = resolved.links.empty() ? root.dir()->open_file(resolved) : tl::unexpected(disk::lookup_error{});
  const auto count = file ? disk::read_at(file->get(), front.data(), front.size(), 0) : tl::unexpected(0);
  if (!count) return std::nullopt;
  const auto content = front.first(*count);
  const std::string_view head(front.data(), std::min(*count, head_bytes));
  const auto name = last_name(resolved.path);
  const auto type = effective_mime_type(name, head, content_kind::detect);
  front_description described{
      {}, type == mime_type_of(name).name ? std::string_view() : type, bytes::active_content_by_front(head)};
  if (is_describable(type)) {
    // The bytes that identify a secret in the front may follow shortly after it.
    secrets::redactor(root.masking_policy_of(resolved.path), {content.data(), content.size()}).mask(content);
    described.text = describe(type, head, head.size() == size);
  }
  return described;
}

/// Labels active content, unless the type alone implies it; then the sender of the entry adds the label.
void label_entry(resource& entry, bytes::active_content active) {
  if (active == bytes::active_content::none || bytes::active_content_by_type(entry.mime_type) != bytes::active_content::none)
    return;
  entry.metadata.emplace_back(bytes::active_content_key, std::string(bytes::media_type_of(active)));
}

}  // namespace

void describe_entry(resource& entry, const served_root& root, std::string_view path, const disk::resolved_path& resolved) {
  if (!S_ISREG(resolved.attributes.st_mode)) return;
  if (resolved.attributes.st_size == 0) {
    if (const auto type = type_of_empty_file(path); !type.empty()) entry.mime_type = type;
    return;
  }
  front_buffer front;
  const auto described = describe_front(root, resolved, static_cast<std::uint64_t>(resolved.attributes.st_size), front);
  if (!described) return;
  entry.title = described->text.title;
  entry.description = described->text.summary;
  if (!described->sniffed_type.empty()) entry.mime_type = described->sniffed_type;
  label_entry(entry, described->active);
}

std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISREG(mode)) return "file";
  if (S_ISDIR(mode)) return "folder";
  if (S_ISLNK(mode)) return "link";
  return "special";
}

resource make_entry(const served_root& root, std::string_view path, const struct stat& attributes, std::int64_t checked_at) {
  return make_entry(root, path, make_record(attributes, checked_at));
}

resource make_entry(const record_block& block, std::size_t index) {
  auto record = block.at(index);
  if (S_ISREG(record.mode) && !record.has_version()) {
    // It had just changed when it was walked. By now its stamp may be reliable.
    const auto checked_at = disk::wall_clock();
    const auto resolved = block.root().dir()->resolve(block.path(index));
    if (resolved && resolved->links.empty() && S_ISREG(resolved->attributes.st_mode))
      record = make_record(resolved->attributes, checked_at);
  }
  auto entry = make_entry(block.root(), block.path(index), record);
  if (const auto* descriptions = block.descriptions()) {
    auto description = descriptions->at(index);
    entry.title = std::move(description.title);
    entry.description = std::move(description.summary);
    if (const auto type = descriptions->sniffed_type(index); !type.empty()) entry.mime_type = type;
    label_entry(entry, descriptions->active_content(index));
  }
  return entry;
}

std::unique_ptr<const block_descriptions> describe_block(const record_block& block, const listing* previous) {
  auto descriptions = std::make_unique<block_descriptions>();
  front_buffer front;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto& record = block.at(i);
    const auto path = block.path(i);
    if (!S_ISREG(record.mode) || record.size == 0) {
      descriptions->add({}, S_ISREG(record.mode) ? type_of_empty_file(path) : "");
      continue;
    }
    if (previous != nullptr && record.has_version()) {
      const auto earlier = previous->find(block.uri(i));
      const auto* reusable = earlier ? earlier->block->descriptions() : nullptr;
      if (reusable != nullptr && earlier->block->at(earlier->index).version == record.version) {
        descriptions->add(reusable->at(earlier->index), reusable->sniffed_type(earlier->index),
                          reusable->active_content(earlier->index));
        continue;
      }
    }
    const auto resolved = block.root().dir()->resolve(path);
    const auto described = resolved ? describe_front(block.root(), *resolved, record.size, front) : std::nullopt;
    if (described) {
      descriptions->add(described->text, described->sniffed_type, described->active);
    } else {
      descriptions->add({}, "");
    }
  }
  return descriptions;
}

}  // namespace hondana::files
