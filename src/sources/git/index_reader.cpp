/// Reads index files with the extensions that libgit2 lacks: split and sparse indexes.
#include "sources/git/index_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "sources/git/confined_roots.hpp"
#include "sources/git/diff.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t max_index_bytes = std::size_t{512} << 20;
constexpr std::size_t max_index_entries = 2'000'000;
constexpr std::size_t index_checksum_bytes = GIT_OID_RAWSZ;
constexpr std::size_t max_index_path_bytes = 65'536;
constexpr std::uint32_t sparse_folder_mode = 0040000;
constexpr std::uint16_t extended_flag = 0x4000;

tl::unexpected<failure> index_error(std::string reason) {
  return fail(errc::source_unavailable,
              "The index of the work tree cannot be read: it is damaged, or has an unsupported format. Run `git fsck` in the "
              "repository.",
              std::move(reason));
}

/// Takes big-endian numbers and texts from the front of bytes. After the end, all are 0 and empty.
class byte_source {
 public:
  explicit byte_source(std::string_view bytes) noexcept : bytes_(bytes) {}

  std::string_view take(std::size_t count) noexcept {
    if (count > bytes_.size()) {
      is_truncated_ = true;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }
  template <class T>
  T number() noexcept {
    std::uint64_t value = 0;
    for (const char c : take(sizeof(T))) value = value << 8U | static_cast<unsigned char>(c);
    return static_cast<T>(value);
  }
  git_oid id() noexcept {
    git_oid taken{};
    const auto raw = take(GIT_OID_RAWSZ);
    std::copy(raw.begin(), raw.end(), reinterpret_cast<char*>(taken.id));
    return taken;
  }
  /// Up to a NUL, which is removed.
  std::string_view text() noexcept {
    const auto end = bytes_.find('\0');
    if (end == std::string_view::npos) {
      is_truncated_ = true;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return taken;
  }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_; }

 private:
  std::string_view bytes_;
  bool is_truncated_ = false;
};

/// The number of bytes that a path of version 4 takes away from the path before it.
std::size_t read_strip_count(byte_source& source) noexcept {
  auto byte = source.number<std::uint8_t>();
  std::size_t value = byte & 0x7FU;
  while ((byte & 0x80U) != 0 && value < max_index_path_bytes) {
    byte = source.number<std::uint8_t>();
    value = ((value + 1) << 7U) + (byte & 0x7FU);
  }
  return value;
}

/// Reads one entry. False: it is malformed.
bool read_entry(byte_source& source, std::uint32_t version, const std::string& previous_path, raw_index_entry& entry) {
  const auto size_before = source.size();
  auto& fields = entry.fields;
  fields.ctime.seconds = source.number<std::int32_t>();
  fields.ctime.nanoseconds = source.number<std::uint32_t>();
  fields.mtime.seconds = source.number<std::int32_t>();
  fields.mtime.nanoseconds = source.number<std::uint32_t>();
  fields.dev = source.number<std::uint32_t>();
  fields.ino = source.number<std::uint32_t>();
  fields.mode = source.number<std::uint32_t>();
  fields.uid = source.number<std::uint32_t>();
  fields.gid = source.number<std::uint32_t>();
  fields.file_size = source.number<std::uint32_t>();
  fields.id = source.id();
  fields.flags = source.number<std::uint16_t>();
  if ((fields.flags & extended_flag) != 0) fields.flags_extended = source.number<std::uint16_t>();
  if (version < 4) {
    entry.path = source.text();
    // The entry ends in one to eight NULs, such that its length is a multiple of eight.
    const auto length = size_before - source.size();
    source.take((8 - length % 8) % 8);
  } else {
    const auto stripped = read_strip_count(source);
    if (stripped > previous_path.size()) return false;
    entry.path = previous_path.substr(0, previous_path.size() - stripped);
    entry.path += source.text();
  }
  return !source.is_truncated() && entry.path.size() <= max_index_path_bytes;
}

/// Reads a bitmap in the EWAH format, as the positions of its bits. nullopt: it is malformed, or has too many bits.
std::optional<std::vector<std::uint32_t>> read_bitmap(byte_source& source) {
  const auto bit_count = source.number<std::uint32_t>();
  const auto word_count = source.number<std::uint32_t>();
  if (bit_count > max_index_entries || word_count > source.size() / sizeof(std::uint64_t)) return std::nullopt;
  std::vector<std::uint32_t> positions;
  std::uint64_t position = 0;
  for (std::uint32_t i = 0; i < word_count;) {
    const auto marker = source.number<std::uint64_t>();
    ++i;
    const bool is_set = (marker & 1U) != 0;
    const auto run_bits = (marker >> 1U & 0xFFFFFFFFU) * 64;
    const auto literal_count = marker >> 33U;
    if (run_bits > max_index_entries + 64 || literal_count > word_count - i) return std::nullopt;
    for (std::uint64_t bit = 0; is_set && bit < run_bits && position + bit < bit_count; ++bit)
      positions.push_back(static_cast<std::uint32_t>(position + bit));
    position += run_bits;
    for (std::uint64_t literal = 0; literal < literal_count; ++literal, ++i, position += 64) {
      const auto word = source.number<std::uint64_t>();
      for (unsigned bit = 0; bit < 64; ++bit)
        if ((word >> bit & 1U) != 0 && position + bit < bit_count)
          positions.push_back(static_cast<std::uint32_t>(position + bit));
    }
    if (position > max_index_entries + 128) return std::nullopt;
  }
  source.number<std::uint32_t>();  // where the last marker is
  if (source.is_truncated()) return std::nullopt;
  return positions;
}

result<void> read_link(raw_index& index, std::string_view bytes) {
  byte_source source(bytes);
  index.is_split = true;
  index.shared_id = source.id();
  if (source.size() > 0) {
    for (auto* positions : {&index.deleted, &index.replaced}) {
      auto read = read_bitmap(source);
      if (!read) return index_error("its extension link is malformed");
      *positions = std::move(*read);
    }
  }
  if (source.is_truncated()) return index_error("its extension link is truncated");
  return {};
}

}  // namespace

result<raw_index> parse_index(std::string_view bytes) {
  if (bytes.size() < index_checksum_bytes) return index_error("it is too short");
  byte_source source(bytes.substr(0, bytes.size() - index_checksum_bytes));
  if (source.take(4) != "DIRC") return index_error("it does not begin with DIRC");
  const auto version = source.number<std::uint32_t>();
  const auto count = source.number<std::uint32_t>();
  if (version < 2 || version > 4 || count > max_index_entries) return index_error("its version or number of entries is wrong");
  raw_index index;
  std::string previous_path;
  for (std::uint32_t i = 0; i < count; ++i) {
    raw_index_entry entry;
    if (!read_entry(source, version, previous_path, entry)) return index_error("an entry is malformed");
    previous_path = entry.path;
    index.entries.push_back(std::move(entry));
  }
  while (source.size() >= 8) {
    const auto name = source.take(4);
    const auto content = source.take(source.number<std::uint32_t>());
    if (source.is_truncated()) return index_error("an extension is truncated");
    if (name == "link") {
      HONDANA_TRY(read_link(index, content));
    } else if (name != "sdir" && (name.front() < 'A' || name.front() > 'Z')) {
      return index_error("it has the unknown extension " + std::string(name));
    }
  }
  return index;
}

result<std::vector<raw_index_entry>> join_split_index(raw_index index, raw_index shared) {
  auto& base = shared.entries;
  std::size_t next = 0;
  for (const auto position : index.replaced) {
    if (position >= base.size() || next >= index.entries.size()) return index_error("it replaces an entry that does not exist");
    base[position].fields = index.entries[next++].fields;
  }
  std::vector<bool> is_deleted(base.size());
  for (const auto position : index.deleted) {
    if (position >= base.size()) return index_error("it deletes an entry that does not exist");
    is_deleted[position] = true;
  }
  std::vector<raw_index_entry> joined;
  for (std::size_t i = 0; i < base.size(); ++i)
    if (!is_deleted[i]) joined.push_back(std::move(base[i]));
  for (; next < index.entries.size(); ++next) joined.push_back(std::move(index.entries[next]));
  return joined;
}

namespace {

/// Adds an entry to an index in memory.
result<void> add_entry(git_index* index, const raw_index_entry& entry) {
  auto fields = entry.fields;
  fields.path = entry.path.c_str();
  if (git_index_entrycount(index) >= max_index_entries)
    return fail(errc::response_too_large, "The work tree has more than 2000000 files. Compare revisions instead.");
  if (git_index_add(index, &fields) < 0) {
    git_error_clear();
    return index_error("an entry is not valid");
  }
  return {};
}

/// Adds the files below a sparse folder. They are not in the work tree.
result<void> add_sparse_folder(git_index* index, git_repository* repo, const raw_index_entry& folder) {
  git_tree* raw = nullptr;
  if (git_tree_lookup(&raw, repo, &folder.fields.id) < 0)
    return libgit2_failure("The tree " + to_hex(folder.fields.id) +
                           " of a sparse index cannot be read. Run `git fsck` in the repository.");
  const tree_pointer tree(raw);
  compare_options options;
  options.detects_renames = false;
  options.max_changes = max_index_entries;
  HONDANA_TRY(const auto files, compare(repo, nullptr, raw, options));
  for (const auto& file : files) {
    raw_index_entry entry{folder.fields, folder.path + file.new_side.path};
    entry.fields.id = file.new_side.id;
    entry.fields.mode = file.new_side.mode;
    entry.fields.flags_extended |= GIT_INDEX_ENTRY_SKIP_WORKTREE;
    HONDANA_TRY(add_entry(index, entry));
  }
  return {};
}

}  // namespace

result<index_pointer> read_extended_index(git_repository* repo) {
  const std::string folder = git_repository_path(repo);
  const confined_roots roots({folder});
  const auto bytes = roots.read(folder + "index", max_index_bytes);
  if (!bytes) return index_error(std::string(message_of(bytes.error())));
  HONDANA_TRY(auto parsed, parse_index(*bytes));
  std::vector<raw_index_entry> entries;
  if (parsed.is_split && git_oid_is_zero(&parsed.shared_id) == 0) {
    const auto shared_bytes = roots.read(folder + "sharedindex." + to_hex(parsed.shared_id), max_index_bytes);
    if (!shared_bytes) return index_error("its shared index " + std::string(message_of(shared_bytes.error())));
    HONDANA_TRY(auto shared, parse_index(*shared_bytes));
    HONDANA_TRY(entries, join_split_index(std::move(parsed), std::move(shared)));
  } else {
    entries = std::move(parsed.entries);
  }
  git_index* raw = nullptr;
  if (git_index_new(&raw) < 0) return libgit2_failure("The index of the work tree cannot be held in memory.");
  index_pointer index(raw);
  for (const auto& entry : entries) {
    if (entry.fields.mode == sparse_folder_mode) {
      HONDANA_TRY(add_sparse_folder(raw, repo, entry));
    } else {
      HONDANA_TRY(add_entry(raw, entry));
    }
  }
  return index;
}

}  // namespace hondana::git
