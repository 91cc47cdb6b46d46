/// The double collect.
#include "sources/files/content.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/bytes/form.hpp"
#include "base/bytes/prepare.hpp"
#include "sources/files/masked_file.hpp"
#include "sources/files/reader.hpp"
#include "sources/files/sniff.hpp"
#include "sources/files/window.hpp"

namespace hondana::files {
namespace {

/// One attempt to read; `content_changed` asks for another.
class attempt {
 public:
  attempt(const std::shared_ptr<const open_file>& raw, const std::optional<range>& wanted, const read_request& request,
          reading_room& room, secrets::policy how)
      : raw_(raw),
        file_(how == secrets::policy::none ? raw : std::make_shared<masked_file>(raw, how)),
        wanted_(wanted),
        request_(request),
        room_(room) {}

  result<file_content> run() {
    HONDANA_TRY(auto before, file_->state());
    state_ = before;
    is_racy_ = is_racy(state_, disk::wall_clock());
    if (!wanted_ && state_.size > request_.max_bytes) return too_large(state_.size);
    return !wanted_ && state_.size <= whole_bytes ? read_small() : read_judged();
  }

 private:
  tl::unexpected<failure> too_large(std::uint64_t size) const {
    return tl::unexpected(bytes::too_large(request_.asked_uri, size, request_.max_bytes, true));
  }

  /// A whole small file: its bytes tell everything.
  result<file_content> read_small() {
    auto buffer = room_.buffers.borrow(static_cast<std::size_t>(state_.size));
    if (!buffer) return read_judged(false);  // too much memory waits for slow peers: it is read while it is sent
    auto& bytes = **buffer;
    file_content found;
    HONDANA_TRY(fill(bytes, 0, found.masked));
    HONDANA_TRY(const auto stable, is_settled());
    if (!stable) {
      HONDANA_TRY(matches(bytes, 0));
    }
    found.form = bytes::form_of(bytes);
    found.is_checked = true;
    found.front = bytes.substr(0, head_bytes);
    found.version = stable ? version_of(state_) : bytes::to_hex(bytes::digest_of(bytes));
    found.is_racy = !stable;
    found.data = shared_bytes(std::move(*buffer));
    return found;
  }

  /// A large file or a part. The form of a part comes from a pass over the whole; that of the whole is left to its sender.
  result<file_content> read_judged(bool has_buffers = true) {
    file_content found;
    HONDANA_TRY(judge(found));
    const bool is_text = found.form == content_form::text;
    extent where{0, state_.size};
    if (wanted_) {
      HONDANA_TRY(auto part, locate(is_text));
      where = part;
    }
    const auto size = where.end - where.begin;
    if (size > request_.max_bytes) return too_large(size);
    if (size > whole_bytes || !has_buffers) return stream(std::move(found), where);
    auto buffer = room_.buffers.borrow(static_cast<std::size_t>(size));
    if (!buffer) return stream(std::move(found), where);
    auto& bytes = **buffer;
    HONDANA_TRY(fill(bytes, where.begin, found.masked));
    HONDANA_TRY(const auto stable, is_settled());
    if (!stable) {
      if (wanted_) {
        HONDANA_TRY(const auto again, locate(is_text));
        if (again != where) return changed();
      }
      HONDANA_TRY(matches(bytes, where.begin));
    }
    found.is_racy = !stable;
    found.data = shared_bytes(std::move(*buffer));
    return found;
  }

  result<file_content> stream(file_content found, const extent& where) {
    HONDANA_TRY(auto place, room_.readers.enter(request_.who.address));
    found.data = std::make_shared<file_reader>(file_, where.begin, where.end - where.begin, std::move(place));
    return found;
  }

  result<void> judge(file_content& found) {
    found.front.resize(static_cast<std::size_t>(std::min<std::uint64_t>(state_.size, head_bytes)));
    if (auto count = read_exactly(*file_, found.front.data(), found.front.size(), 0); !count) {
      return tl::unexpected(std::move(count.error()));
    }
    if (!is_racy_) {
      found.version = version_of(state_);
      if (const auto known = room_.forms.find(state_)) {
        found.form = *known;
        return {};
      }
      // Whoever sends all of it looks at all of it first, and decides then.
      if (!wanted_) return {};
    }
    HONDANA_TRY(auto outcome, scan(*file_, state_.size, is_racy_, request_));
    found.form = outcome.form;
    if (is_racy_) {
      found.version = outcome.digest ? bytes::to_hex(*outcome.digest) : std::string();
      return {};
    }
    HONDANA_TRY(const auto after, file_->state());
    if (after == state_) room_.forms.remember(state_, found.form);
    return {};
  }

  /// Lines end where they do in the file itself, which is quicker to go through.
  result<extent> locate(bool is_text) const {
    return locate_range(wanted_->unit == range_unit::lines ? *raw_ : *file_, state_.size, *wanted_, is_text, request_);
  }

  result<std::size_t> fill(std::string& bytes, std::uint64_t from, std::size_t& masked) const {
    return all_of(file_->read_counting(bytes.data(), bytes.size(), from, true, masked), bytes.size());
  }

  /// Whether the file certainly is as it was when the attempt began.
  result<bool> is_settled() const {
    HONDANA_TRY(auto after, file_->state());
    return after == state_ && !is_racy_;
  }

  /// Reads a second time and compares.
  result<void> matches(std::string_view bytes, std::uint64_t from) const {
    const auto most = std::min(window_bytes, bytes.size());
    const auto again = std::make_unique_for_overwrite<char[]>(most);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto part = std::min(most, bytes.size() - at);
      HONDANA_TRY(read_exactly(*file_, again.get(), part, from + at));
      if (std::memcmp(again.get(), bytes.data() + at, part) != 0) return changed();
      at += part;
    }
    return {};
  }

  static tl::unexpected<failure> changed() {
    return fail(errc::content_changed, "The file kept changing while it was being read. Read it again.");
  }

  const std::shared_ptr<const open_file>& raw_;
  const std::shared_ptr<const open_file> file_;  // as it is served
  const std::optional<range>& wanted_;
  const read_request& request_;
  reading_room& room_;
  disk::stamp state_;
  bool is_racy_ = false;
};

}  // namespace

result<file_content> read_content(const std::shared_ptr<const open_file>& file, const std::optional<range>& wanted,
                                  const read_request& request, reading_room& room, secrets::policy how) {
  auto found = attempt(file, wanted, request, room, how).run();
  if (found || found.error().code != errc::content_changed) return found;
  return attempt(file, wanted, request, room, how).run();
}

}  // namespace hondana::files
