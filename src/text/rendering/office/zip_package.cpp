/// The ZIP package of an Office file, unpacked within limits.
#include "text/rendering/office/zip_package.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace hondana::rendering {
namespace {

constexpr std::size_t archive_block = 64u << 10;

/// The data of libarchive's callbacks.
struct reading_place {
  byte_source& from;
  std::uint64_t at = 0;
  std::vector<char> block = std::vector<char>(archive_block);
};

la_ssize_t read_block(archive*, void* self, const void** into) {
  auto& place = *static_cast<reading_place*>(self);
  const auto count = place.from.read_at(place.at, place.block.data(), place.block.size());
  if (count < 0) return ARCHIVE_FATAL;
  place.at += static_cast<std::uint64_t>(count);
  *into = place.block.data();
  return static_cast<la_ssize_t>(count);
}

la_int64_t skip_bytes(archive*, void* self, la_int64_t count) {
  auto& place = *static_cast<reading_place*>(self);
  if (count < 0 || place.at >= place.from.size()) return 0;
  const auto skipped = std::min(static_cast<std::uint64_t>(count), place.from.size() - place.at);
  place.at += skipped;
  return static_cast<la_int64_t>(skipped);
}

la_int64_t seek_to(archive*, void* self, la_int64_t offset, int whence) {
  auto& place = *static_cast<reading_place*>(self);
  const auto size = static_cast<la_int64_t>(place.from.size());
  const auto base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? static_cast<la_int64_t>(place.at) : size;
  la_int64_t to = 0;
  if (__builtin_add_overflow(base, offset, &to)) return ARCHIVE_FATAL;
  to = std::clamp(to, la_int64_t{0}, size);
  place.at = static_cast<std::uint64_t>(to);
  return to;
}

tl::unexpected<failure> no_package(const std::string& private_text) {
  return fail(errc::invalid_argument, "the file is damaged or is not an Office file: its zip archive cannot be read",
              private_text);
}

tl::unexpected<failure> cannot_be_unpacked(const std::string& name, const char* said) {
  return fail(errc::invalid_argument, "the file is damaged: its part " + name + " cannot be unpacked",
              said == nullptr ? "" : said);
}

tl::unexpected<failure> encrypted() { return fail(errc::access_denied, "the file is encrypted; store it without a password"); }

}  // namespace

std::string part_name(std::string_view name) {
  std::vector<std::string_view> steps;
  while (!name.empty()) {
    const auto step = name.substr(0, name.find_first_of("/\\"));
    name.remove_prefix(std::min(step.size() + 1, name.size()));
    if (step == "..") {
      if (!steps.empty()) steps.pop_back();
    } else if (!step.empty() && step != ".") {
      steps.push_back(step);
    }
  }
  std::string out;
  for (const auto& one : steps) {
    if (!out.empty()) out += '/';
    out += one;
  }
  return out;
}

std::string part_at(std::string_view folder, std::string_view target) {
  if (target.starts_with('/')) return part_name(target);
  return part_name(std::string(folder) + '/' + std::string(target));
}

std::string_view folder_of(std::string_view part) noexcept {
  const auto slash = part.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : part.substr(0, slash);
}

result<void> package::count(std::size_t bytes) {
  unpacked_ += bytes;
  const bool is_bomb = unpacked_ > most_.unchecked && unpacked_ / std::max<std::uint64_t>(from_.size(), 1) > most_.ratio;
  if (unpacked_ <= most_.unpacked && !is_bomb) return {};
  return fail(errc::response_too_large, "the file of " + std::to_string(from_.size()) + " bytes unpacks to more than " +
                                            std::to_string(unpacked_ - bytes) + " bytes, so it is rejected as a zip bomb");
}

result<void> package::read_part(archive* from, events& into, const std::string& name) {
  markup_parser parser(by_.xml, into);
  std::vector<char> piece(archive_block);
  const auto wrong = [&name](failure why) {
    if (why.code == errc::invalid_argument) why.public_text = "the file is damaged: its part " + name + ": " + why.public_text;
    return tl::unexpected(std::move(why));
  };
  for (;;) {
    const auto got = by_.archive.read_data(from, piece.data(), piece.size());
    if (got == 0) break;
    if (got < 0) return cannot_be_unpacked(name, by_.archive.error_string(from));
    const auto size = static_cast<std::size_t>(got);
    HONDANA_TRY(count(size));
    auto more = parser.feed({piece.data(), size});
    if (!more) return wrong(std::move(more.error()));
    if (!*more) return {};
  }
  if (auto done = parser.finish(); !done) return wrong(std::move(done.error()));
  return {};
}

result<void> package::walk(const std::function<result<bool>(archive* from, const std::string& name, bool is_encrypted)>& each) {
  const auto& by = by_.archive;
  const std::unique_ptr<archive, decltype(by.read_free)> from(by.read_new(), by.read_free);
  if (!from) return fail(errc::response_too_large, "out of memory while reading an Office file");
  reading_place place{from_};
  by.read_support_zip(from.get());
  by.read_set_callback_data(from.get(), &place);
  by.read_set_read_callback(from.get(), read_block);
  by.read_set_skip_callback(from.get(), skip_bytes);
  by.read_set_seek_callback(from.get(), seek_to);
  const auto said = [&] {
    const auto* text = by.error_string(from.get());
    return std::string(text == nullptr ? "" : text);
  };
  if (by.read_open1(from.get()) < ARCHIVE_WARN) return no_package(said());
  std::set<std::string> seen;
  for (std::size_t members = 0;; ++members) {
    archive_entry* entry = nullptr;
    const int outcome = by.read_next_header(from.get(), &entry);
    if (outcome == ARCHIVE_EOF) return {};
    if (outcome < ARCHIVE_WARN) return no_package(said());
    if (members == most_.members)
      return fail(errc::response_too_large, "the file has more than " + std::to_string(most_.members) + " members");
    const auto* raw = by.entry_pathname(entry);
    if (raw == nullptr) continue;
    auto name = part_name(raw);
    if (seen.contains(name)) continue;
    HONDANA_TRY(const auto was_read, each(from.get(), name, by.entry_is_data_encrypted(entry) != 0));
    if (was_read) seen.insert(std::move(name));
  }
}

result<void> package::read(const std::function<events*(const std::string& name)>& choose) {
  return walk([&](archive* from, const std::string& name, bool is_encrypted) -> result<bool> {
    auto* hearer = choose(name);
    if (hearer == nullptr) return false;
    if (is_encrypted) return encrypted();
    return read_part(from, *hearer, name).map([] { return true; });
  });
}

result<void> package::unpack(const std::function<bool(const std::string& name)>& is_wanted, std::size_t most,
                             const std::function<result<void>(std::optional<std::string> bytes)>& take) {
  std::vector<char> piece(archive_block);
  return walk([&](archive* from, const std::string& name, bool is_encrypted) -> result<bool> {
    if (!is_wanted(name)) return false;
    if (is_encrypted) return encrypted();
    std::string bytes;
    for (;;) {
      const auto got = by_.archive.read_data(from, piece.data(), piece.size());
      if (got == 0) break;
      if (got < 0) return cannot_be_unpacked(name, by_.archive.error_string(from));
      HONDANA_TRY(count(static_cast<std::size_t>(got)));
      if (bytes.size() + static_cast<std::size_t>(got) > most) return take(std::nullopt).map([] { return true; });
      bytes.append(piece.data(), static_cast<std::size_t>(got));
    }
    return take(std::move(bytes)).map([] { return true; });
  });
}

result<void> package::read_within(byte_source& inner, const std::function<events*(const std::string& name)>& choose) {
  auto most = most_;
  most.unpacked -= std::min(unpacked_, most.unpacked);
  package one(by_, inner, most);
  auto done = one.read(choose);
  unpacked_ += one.unpacked_;
  return done;
}

}  // namespace hondana::rendering
