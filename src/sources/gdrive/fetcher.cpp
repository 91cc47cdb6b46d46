/// Fetches the content of Drive files: downloads, exports, rendering and cached copies.
#include "sources/gdrive/fetcher.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/spool.hpp"
#include "sources/gdrive/address.hpp"
#include "text/rendering/render_protocol.hpp"

namespace hondana::gdrive {

/// A temporary file without a name. Accepts bytes, and gives a read-only descriptor. Threads: one at a time.
class scratch {
 public:
  /// Errors of all members: source_unavailable if the disk is full.
  [[nodiscard]] static result<scratch> make();
  [[nodiscard]] result<void> append(std::string_view bytes);
  [[nodiscard]] int reader() const noexcept { return reader_.get(); }

 private:
  disk::handle writer_;
  disk::handle reader_;
};

namespace {

tl::unexpected<failure> no_room_for_scratch(const char* what, int error) {
  return fail(errc::source_unavailable, "The temporary file for a conversion cannot be written. Try again later.",
              std::string(what) + ": " + std::strerror(error));
}

}  // namespace

result<scratch> scratch::make() {
  scratch made;
  std::string name = disk::spool::folder() + "/hondana-XXXXXX";
  made.writer_ = disk::handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.writer_.is_open()) return no_room_for_scratch("making a file", errno);
  made.reader_ = disk::handle(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const int error = errno;
  if (::unlink(name.c_str()) != 0) return no_room_for_scratch("unlinking a file", errno);
  if (!made.reader_.is_open()) return no_room_for_scratch("opening a file", error);
  return made;
}

result<void> scratch::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(writer_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_room_for_scratch("writing a file", put < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

namespace {

using clock = monotonic_clock;

constexpr std::string_view text_part = "text";
constexpr std::string_view sheets_part = "sheets";
constexpr std::string_view original_part = "original";
/// Longest wait for Drive if a cached copy can be served instead.
constexpr std::chrono::seconds patience_with_other{10};

drive::refusal refusal_with(failure why, drive::trouble what = drive::trouble::sink) {
  drive::refusal made;
  made.what = what;
  made.why = std::move(why);
  return made;
}

part text_of(shared_bytes bytes, std::string_view type, bool is_cut = false) {
  part made;
  made.mime_type = type;
  made.form = content_form::text;
  made.data = std::move(bytes);
  made.is_cut = is_cut;
  return made;
}

part original_from(std::variant<shared_bytes, std::shared_ptr<byte_reader>> data, const item& of, bool is_second) {
  part made;
  made.mime_type = of.mime_type;
  made.form = is_second ? content_form::blob : content_form::detect;
  made.data = std::move(data);
  made.is_original = true;
  return made;
}

std::vector<part> parts_of(std::vector<rendering::sheet> sheets) {
  std::vector<part> all;
  for (auto& one : sheets) {
    auto made = text_of(std::make_shared<const std::string>(std::move(one.csv)), "text/csv", one.is_cut);
    made.sheet = std::move(one.name);
    all.push_back(std::move(made));
  }
  return all;
}

std::uint64_t size_of(const std::variant<shared_bytes, std::shared_ptr<byte_reader>>& data) {
  if (const auto* bytes = std::get_if<shared_bytes>(&data)) return (*bytes)->size();
  return std::get<std::shared_ptr<byte_reader>>(data)->size();
}

/// The time since the content was last known to match Drive.
std::chrono::seconds age_of(const kept_content& what, const wanted& which) {
  const bool is_known_later = which.sure_at && what.version == version_of(*which.what);
  const auto last = is_known_later ? std::max(what.read_at, *which.sure_at) : what.read_at;
  const auto age = std::chrono::system_clock::now() - last;
  return std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(age));
}

fetched aged_original(const kept_content& what, const wanted& which) {
  fetched made;
  made.version = what.version;
  made.age = age_of(what, which);
  made.parts.push_back(original_from(what.bytes, *which.what, false));
  return made;
}

drive::refusal not_kept(const wanted& which) {
  failure why{errc::source_unavailable,
              '"' + shown(which.what->name) + "\" is not cached, and Drive cannot be reached: " + which.why.public_text +
                  ". Try again later.",
              which.why.private_text};
  why.retry = which.why.retry;
  return refusal_with(std::move(why), drive::trouble::unavailable);
}

std::string_view part_kept_of(way how) noexcept {
  return how == way::workbook ? sheets_part : how == way::bytes ? original_part : text_part;
}

failure too_large(const item& of, std::uint64_t limit) {
  return {errc::response_too_large,
          '"' + shown(of.name) + "\" is larger than " + std::to_string(limit) +
              " bytes, the limit of a read. Raise read_limit and the source's max_bytes, or open its web link.",
          {}};
}

}  // namespace

bool says_unreachable(const drive::refusal& why) noexcept {
  using drive::trouble;
  return why.what == trouble::unavailable || why.what == trouble::stalled || why.what == trouble::timed_out ||
         why.what == trouble::rate_limited || why.what == trouble::daily_limit;
}

bool says_cut_off(const drive::refusal& why) noexcept {
  using drive::trouble;
  return why.status == 0 &&
         (why.what == trouble::unavailable || why.what == trouble::stalled || why.what == trouble::timed_out);
}

bool says_refused(const drive::refusal& why) noexcept {
  using drive::trouble;
  return why.what == trouble::not_found || why.what == trouble::forbidden || why.what == trouble::gone ||
         why.what == trouble::abusive || why.what == trouble::scope_missing || why.what == trouble::unauthorized ||
         why.what == trouble::not_enabled;
}

std::string fetcher::missing_for(rendering::format what) const {
  if (!with_.renderer) return "PDF and Office files are not converted to text (renders = false)";
  return with_.renderer->missing_for(what);
}

std::optional<kept_content> fetcher::kept_of(const item& of, std::string_view which_part) const {
  auto found = with_.where->content(of.id, which_part);
  if (found) return std::move(*found);
  if (with_.log) with_.log(found.error().public_text);
  return std::nullopt;
}

bool fetcher::has_kept(const item& of) const { return kept_of(of, part_kept_of(format_of(of).how)).has_value(); }

void fetcher::keep(const wanted& which, std::string_view which_part, std::string_view type, const shared_bytes& bytes,
                   bool is_by_link) const {
  const kept_content what{version_of(*which.what), std::string(type), bytes, std::chrono::system_clock::now(), is_by_link};
  auto done = with_.where->put_content(which.what->id, which_part, what);
  if (!done && with_.log) with_.log(done.error().public_text + " (" + done.error().private_text + ')');
}

drive::errand fetcher::errand_of(const wanted& which, const call& by) const {
  drive::errand how;
  how.stop = by.stop;
  how.until = which.has_other ? std::min(by.deadline, clock::now() + patience_with_other) : by.deadline;
  if (*how.until == clock::time_point::max()) how.until.reset();
  how.of = drive::lane::reading;
  how.keys = which.keys;
  return how;
}

drive::answer<fetcher::taken> fetcher::exported(const wanted& which, std::string_view type, const call& by,
                                                std::uint64_t most) const {
  taken made;
  drive::content_sink into;
  into.most_bytes = static_cast<std::size_t>(std::min(most, with_.most_bytes));
  into.takes = [&made](std::string_view piece) -> result<void> {
    made.bytes += piece;
    return {};
  };
  const auto how = errand_of(which, by);
  const std::string mime_type(type);
  auto done = with_.from->exported(which.what->id, mime_type, into, how);
  if (!done && done.error().what == drive::trouble::export_too_large) {
    HONDANA_TRY(const auto file, with_.from->file(which.what->id, how));
    made.bytes.clear();
    made.is_by_link = true;
    done = with_.from->exported_by_link(file, mime_type, into, how);
  }
  if (!done && done.error().what == drive::trouble::too_large) done.error().why = too_large(*which.what, into.most_bytes);
  if (!done) return tl::unexpected(std::move(done.error()));
  return made;
}

drive::answer<fetched> fetcher::export_text(const wanted& which, const format& how, const call& by, std::uint64_t most,
                                            bool is_kept) const {
  HONDANA_TRY(auto got, exported(which, how.asked, by, most));
  fetched made;
  made.is_by_link = got.is_by_link;
  auto bytes = std::make_shared<const std::string>(std::move(got.bytes));
  if (is_kept) keep(which, text_part, how.given, bytes, made.is_by_link);
  auto one = text_of(std::move(bytes), how.given);
  if (!how.is_text) one.form = content_form::blob;
  made.parts.push_back(std::move(one));
  return made;
}

drive::answer<fetched> fetcher::cut_workbook(const wanted& which, const format& how, const call& by) const {
  if (auto missing = missing_for(*how.rendered); !missing.empty()) {
    format first = how;
    first.asked = "text/csv";
    auto made = export_text(which, first, by, with_.most_bytes, false);
    if (made) made->problem = "Only the first sheet is included: " + missing + '.';
    return made;
  }
  HONDANA_TRY(auto got, exported(which, how.asked, by, with_.most_bytes));
  auto file = scratch::make();
  if (!file) return tl::unexpected(refusal_with(std::move(file.error())));
  if (auto put = file->append(got.bytes); !put) return tl::unexpected(refusal_with(std::move(put.error())));
  got.bytes = std::string();
  auto sheets = with_.renderer->sheets(file->reader(), with_.rendered, by.stop, by.deadline);
  if (!sheets) return tl::unexpected(refusal_with(std::move(sheets.error())));
  std::string framed;
  for (const auto& one : *sheets) framed += rendering::line_of(one);
  keep(which, sheets_part, how.given, std::make_shared<const std::string>(std::move(framed)), got.is_by_link);
  fetched made;
  made.is_by_link = got.is_by_link;
  made.parts = parts_of(std::move(*sheets));
  return made;
}

drive::answer<fetched> fetcher::render_export(const wanted& which, const format& how, const call& by) const {
  if (auto missing = missing_for(*how.rendered); !missing.empty()) {
    format plain = how;
    plain.asked = plain.given = "text/plain";
    // An incomplete content is not cached: the next read requests it again.
    auto made = export_text(which, plain, by, with_.most_bytes, false);
    if (made) made->problem = "The speakers' notes are missing: " + missing + '.';
    return made;
  }
  HONDANA_TRY(auto got, exported(which, how.asked, by, with_.most_bytes));
  auto file = scratch::make();
  if (!file) return tl::unexpected(refusal_with(std::move(file.error())));
  if (auto put = file->append(got.bytes); !put) return tl::unexpected(refusal_with(std::move(put.error())));
  auto text = with_.renderer->render(*how.rendered, file->reader(), with_.rendered, by.stop, by.deadline);
  if (!text) return tl::unexpected(refusal_with(std::move(text.error())));
  fetched made;
  made.is_by_link = got.is_by_link;
  auto bytes = std::make_shared<const std::string>(std::move(text->text));
  if (!text->is_cut) keep(which, text_part, how.given, bytes, made.is_by_link);
  made.parts.push_back(text_of(std::move(bytes), how.given, text->is_cut));
  return made;
}

drive::answer<fetched> fetcher::original_of(const wanted& which, const call& by, std::uint64_t most) const {
  const auto known = kept_of(*which.what, original_part);
  if (which.is_offline && known) return aged_original(*known, which);
  if (which.is_offline) return tl::unexpected(not_kept(which));
  fetched made;
  if (known && known->version == version_of(*which.what)) {
    if (known->bytes->size() > most)
      return tl::unexpected(refusal_with(too_large(*which.what, most), drive::trouble::too_large));
    made.parts.push_back(original_from(known->bytes, *which.what, false));
    return made;
  }
  const auto limit = std::min(most, with_.most_bytes);
  if (which.what->size && *which.what->size > limit)
    return tl::unexpected(refusal_with(too_large(*which.what, limit), drive::trouble::too_large));
  disk::spool into;
  drive::content_sink sink;
  sink.most_bytes = static_cast<std::size_t>(limit);
  sink.takes = [&into](std::string_view piece) { return into.append(piece); };
  auto asked = which;
  asked.has_other = asked.has_other || known;
  auto got = with_.from->content(which.what->id, sink, errand_of(asked, by));
  if (!got && known && says_unreachable(got.error())) return aged_original(*known, which);
  if (!got && got.error().what == drive::trouble::too_large) got.error().why = too_large(*which.what, limit);
  if (!got) return tl::unexpected(std::move(got.error()));
  auto data = into.take();
  if (!data) return tl::unexpected(refusal_with(std::move(data.error())));
  if (const auto* bytes = std::get_if<shared_bytes>(&*data)) keep(which, original_part, which.what->mime_type, *bytes);
  made.parts.push_back(original_from(std::move(*data), *which.what, false));
  return made;
}

drive::answer<fetched> fetcher::render_bytes(const wanted& which, const format& how, const call& by, std::uint64_t most) const {
  auto problem = missing_for(*how.rendered);
  auto original = original_of(which, by, with_.most_bytes);
  if (!original) return original;
  auto& whole = original->parts.front();
  if (original->age) whole.form = content_form::blob;
  if (original->age) return original;
  const auto as_original = [&](std::string why) -> drive::answer<fetched> {
    if (size_of(whole.data) > most) return tl::unexpected(refusal_with(too_large(*which.what, most)));
    whole.form = content_form::blob;
    original->problem = "It could not be converted to text: " + std::move(why) + '.';
    return std::move(original);
  };
  if (!problem.empty()) return as_original(std::move(problem));
  auto file = scratch::make();
  if (!file) return tl::unexpected(refusal_with(std::move(file.error())));
  if (const auto* bytes = std::get_if<shared_bytes>(&whole.data)) {
    if (auto put = file->append(**bytes); !put) return tl::unexpected(refusal_with(std::move(put.error())));
  } else {
    auto& reader = *std::get<std::shared_ptr<byte_reader>>(whole.data);
    std::string window(256u << 10, '\0');
    for (std::uint64_t left = reader.size(); left > 0;) {
      auto count = reader.read(window);
      if (!count) return tl::unexpected(refusal_with(std::move(count.error())));
      if (auto put = file->append(std::string_view(window).substr(0, *count)); !put)
        return tl::unexpected(refusal_with(std::move(put.error())));
      left -= *count;
    }
    if (auto again = reader.rewind(); !again) return tl::unexpected(refusal_with(std::move(again.error())));
  }
  auto text = with_.renderer->render(*how.rendered, file->reader(), with_.rendered, by.stop, by.deadline);
  if (!text && (text.error().code == errc::cancelled || text.error().code == errc::timed_out))
    return tl::unexpected(refusal_with(std::move(text.error())));
  if (!text) return as_original(std::move(text.error().public_text));
  fetched made;
  auto bytes = std::make_shared<const std::string>(std::move(text->text));
  if (!text->is_cut) keep(which, text_part, how.given, bytes);
  const auto used = bytes->size();
  made.parts.push_back(text_of(std::move(bytes), how.given, text->is_cut));
  if (used <= most && size_of(whole.data) <= most - used)
    made.parts.push_back(original_from(std::move(whole.data), *which.what, true));
  return made;
}

drive::answer<fetched> fetcher::content_of(const wanted& which, const call& by, std::uint64_t most) const {
  const auto how = format_of(*which.what);
  if (how.how == way::none) {
    const auto& link = which.what->web_link;
    return tl::unexpected(refusal_with({errc::unsupported,
                                        "Drive does not export the content of a " + word_for(which.what->mime_type) + "." +
                                            (link.starts_with("https://") ? " Open " + link + " in a browser." : std::string()),
                                        {}},
                                       drive::trouble::not_exportable));
  }
  const auto known = kept_of(*which.what, part_kept_of(how.how));
  const auto from_known = [&]() -> drive::answer<fetched> {
    fetched made;
    made.version = known->version;
    made.is_by_link = known->is_by_link;
    if (how.how == way::workbook) {
      auto sheets = rendering::sheets_in(*known->bytes);
      if (!sheets) return tl::unexpected(refusal_with(std::move(sheets.error())));
      made.parts = parts_of(std::move(*sheets));
      return made;
    }
    auto one =
        how.how == way::bytes ? original_from(known->bytes, *which.what, false) : text_of(known->bytes, known->mime_type);
    if (how.how == way::exported && !how.is_text) one.form = content_form::blob;
    made.parts.push_back(std::move(one));
    return made;
  };
  const bool is_current = known && known->version == version_of(*which.what);
  if (is_current && !which.is_offline && how.how != way::rendered) return from_known();
  drive::answer<fetched> made = tl::unexpected(drive::refusal());
  if (!which.is_offline) {
    auto asked = which;
    asked.has_other = known.has_value();
    switch (how.how) {
      case way::exported:
        made = export_text(asked, how, by, most);
        break;
      case way::workbook:
        made = cut_workbook(asked, how, by);
        break;
      case way::slides:
        made = render_export(asked, how, by);
        break;
      case way::rendered: {
        if (!is_current) {
          made = render_bytes(asked, how, by, most);
          break;
        }
        made = from_known();
        const auto used = made ? size_of(made->parts.front().data) : most;
        auto original = used < most ? original_of(asked, by, most - used) : made;
        if (!original && says_refused(original.error())) return original;
        if (original && used < most && made) {
          original->parts.front().form = content_form::blob;
          made->parts.push_back(std::move(original->parts.front()));
        }
        break;
      }
      default:
        made = original_of(asked, by, most);
        break;
    }
    if (made || !says_unreachable(made.error())) return made;
  }
  if (!known && which.is_offline) return tl::unexpected(not_kept(which));
  if (!known) return made;
  made = from_known();
  if (made) made->age = age_of(*known, which);
  return made;
}

}  // namespace hondana::gdrive
