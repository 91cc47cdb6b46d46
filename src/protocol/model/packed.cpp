/// The packed form: the URI and name, a mask of present fields, then those fields in order.
#include "protocol/model/packed.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

namespace hondana::model {
namespace {

/// Which fields follow; an absent field is empty.
enum field : std::uint64_t {
  has_title = 1u << 0,
  has_description = 1u << 1,
  has_mime_type = 1u << 2,
  has_size = 1u << 3,
  has_audience = 1u << 4,
  has_priority = 1u << 5,
  has_last_modified = 1u << 6,
  has_icons = 1u << 7,
  has_kind = 1u << 8,
  has_version = 1u << 9,
  has_metadata = 1u << 10,
};

void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  out.push_back(static_cast<char>(value));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

template <class T>
void put_raw(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_icons(std::string& out, const std::vector<icon>& icons) {
  put_number(out, icons.size());
  for (const auto& one : icons) {
    put_text(out, one.src);
    put_text(out, one.mimeType);
    put_number(out, one.sizes.size());
    for (const auto& size : one.sizes) put_text(out, size);
    put_text(out, one.theme);
  }
}

void put_metadata(std::string& out, const metadata& facts) {
  put_number(out, facts.size());
  for (const auto& [name, value] : facts) {
    put_text(out, name);
    put_number(out, value.index());
    std::visit(
        [&out](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
            put_text(out, held);
          } else {
            put_raw(out, held);
          }
        },
        value);
  }
}

/// Reads what the functions above wrote.
class unpacker {
 public:
  explicit unpacker(std::string_view bytes) noexcept : rest_(bytes) {}

  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::string_view text() noexcept {
    const auto size = number();
    const auto found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  template <class T>
  T raw() noexcept {
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }

  std::vector<role> roles() {
    std::vector<role> found(number());
    for (auto& one : found) one = raw<role>();
    return found;
  }

  std::vector<icon> icons() {
    std::vector<icon> found(number());
    for (auto& one : found) {
      one.src = text();
      one.mimeType = text();
      one.sizes.resize(number());
      for (auto& size : one.sizes) size = text();
      one.theme = text();
    }
    return found;
  }

  metadata facts() {
    metadata found(number());
    for (auto& [name, value] : found) {
      name = text();
      switch (number()) {
        case 0:
          value = raw<bool>();
          break;
        case 1:
          value = raw<std::int64_t>();
          break;
        case 2:
          value = raw<double>();
          break;
        default:
          value = std::string(text());
      }
    }
    return found;
  }

 private:
  std::string_view rest_;
};

std::uint64_t mask_of(const resource& entry) {
  std::uint64_t mask = 0;
  const auto mark = [&mask](field which, bool present) {
    if (present) mask |= which;
  };
  mark(has_title, !entry.title.empty());
  mark(has_description, !entry.description.empty());
  mark(has_mime_type, !entry.mimeType.empty());
  mark(has_size, entry.size.has_value());
  mark(has_audience, !entry.annotations.audience.empty());
  mark(has_priority, entry.annotations.priority.has_value());
  mark(has_last_modified, entry.annotations.lastModified.has_value());
  mark(has_icons, !entry.icons.empty());
  mark(has_kind, !entry.kind.empty());
  mark(has_version, !entry.version.empty());
  mark(has_metadata, !entry.metadata.empty());
  return mask;
}

}  // namespace

void pack(std::string& arena, const resource& entry) {
  static_assert(std::variant_size_v<metadata_value> == 4 &&
                std::is_same_v<std::variant_alternative_t<3, metadata_value>, std::string>);
  put_text(arena, entry.uri);
  put_text(arena, entry.name);
  const auto mask = mask_of(entry);
  put_number(arena, mask);
  if (mask & has_title) put_text(arena, entry.title);
  if (mask & has_description) put_text(arena, entry.description);
  if (mask & has_mime_type) put_text(arena, entry.mimeType);
  if (mask & has_size) put_number(arena, *entry.size);
  if (mask & has_audience) {
    put_number(arena, entry.annotations.audience.size());
    for (const auto one : entry.annotations.audience) put_raw(arena, one);
  }
  if (mask & has_priority) put_raw(arena, *entry.annotations.priority);
  if (mask & has_last_modified) put_raw<std::int64_t>(arena, entry.annotations.lastModified->time_since_epoch().count());
  if (mask & has_icons) put_icons(arena, entry.icons);
  if (mask & has_kind) put_text(arena, entry.kind);
  if (mask & has_version) put_text(arena, entry.version);
  if (mask & has_metadata) put_metadata(arena, entry.metadata);
}

resource unpack(std::string_view packed) {
  unpacker from(packed);
  resource entry;
  entry.uri = from.text();
  entry.name = from.text();
  const auto mask = from.number();
  if (mask & has_title) entry.title = from.text();
  if (mask & has_description) entry.description = from.text();
  if (mask & has_mime_type) entry.mimeType = from.text();
  if (mask & has_size) entry.size = from.number();
  if (mask & has_audience) entry.annotations.audience = from.roles();
  if (mask & has_priority) entry.annotations.priority = from.raw<double>();
  if (mask & has_last_modified) {
    entry.annotations.lastModified =
        std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(from.raw<std::int64_t>()));
  }
  if (mask & has_icons) entry.icons = from.icons();
  if (mask & has_kind) entry.kind = from.text();
  if (mask & has_version) entry.version = from.text();
  if (mask & has_metadata) entry.metadata = from.facts();
  return entry;
}

std::string_view packed_uri(std::string_view packed) noexcept { return unpacker(packed).text(); }

}  // namespace hondana::model
