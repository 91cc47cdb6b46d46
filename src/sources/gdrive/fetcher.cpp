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
class temporary_file {
 public:
  /// Errors of all members: source_unavailable if the disk is full.
  [[nodiscard]] static result<temporary_file> create();
  [[nodiscard]] result<void> append(std::string_view bytes);
  [[nodiscard]] int reader() const noexcept { return reader_.get(); }

 private:
  disk::handle writer_;
  disk::handle reader_;
};

namespace {

tl::unexpected<failure> temporary_file_error(const char* operation, int error) {
  return fail(errc::source_unavailable, "The temporary file for a conversion cannot be written. Try again later.",
              std::string(operation) + ": " + std::strerror(error));
}

}  // namespace

result<temporary_file> temporary_file::create() {
  temporary_file created;
  std::string name = disk::spool::folder() + "/hondana-XXXXXX";
  created.writer_ = disk::handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!created.writer_.is_open()) return temporary_file_error("making a file", errno);
  created.reader_ = disk::handle(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  const int error = errno;
  if (::unlink(name.c_str()) != 0) return temporary_file_error("unlinking a file", errno);
  if (!created.reader_.is_open()) return temporary_file_error("opening a file", error);
  return created;
}

result<void> temporary_file::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(writer_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return temporary_file_error("writing a file", written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

namespace {

using clock = monotonic_clock;

constexpr std::string_view text_part = "text";
constexpr std::string_view sheets_part = "sheets";
constexpr std::string_view original_part = "original";
/// Longest wait for Drive if a cached copy can be served instead.
constexpr std::chrono::seconds fallback_timeout{10};

drive::drive_error make_error(failure details, drive::error_kind kind = drive::error_kind::sink) {
  drive::drive_error error;
  error.kind = kind;
  error.details = std::move(details);
  return error;
}

part make_text_part(shared_bytes bytes, std::string_view type, bool is_truncated = false) {
  part created;
  created.mime_type = type;
  created.kind = content_kind::text;
  created.data = std::move(bytes);
  created.is_truncated = is_truncated;
  return created;
}

part make_original_part(std::variant<shared_bytes, std::shared_ptr<byte_reader>> data, const item& item, bool is_second) {
  part created;
  created.mime_type = item.mime_type;
  created.kind = is_second ? content_kind::blob : content_kind::detect;
  created.data = std::move(data);
  created.is_original = true;
  return created;
}

std::vector<part> make_sheet_parts(std::vector<rendering::sheet> sheets) {
  std::vector<part> parts;
  for (auto& sheet : sheets) {
    auto created = make_text_part(std::make_shared<const std::string>(std::move(sheet.csv)), "text/csv", sheet.is_truncated);
    created.sheet = std::move(sheet.name);
    parts.push_back(std::move(created));
  }
  return parts;
}

std::uint64_t size_of(const std::variant<shared_bytes, std::shared_ptr<byte_reader>>& data) {
  if (const auto* bytes = std::get_if<shared_bytes>(&data)) return (*bytes)->size();
  return std::get<std::shared_ptr<byte_reader>>(data)->size();
}

/// The time since the content was last known to match Drive.
std::chrono::seconds age_of(const cached_content& cached, const fetch_request& request) {
  const bool is_verified_later = request.verified_at && cached.version == version_of(*request.item);
  const auto last = is_verified_later ? std::max(cached.read_at, *request.verified_at) : cached.read_at;
  const auto age = std::chrono::system_clock::now() - last;
  return std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(age));
}

fetch_result make_aged_original(const cached_content& cached, const fetch_request& request) {
  fetch_result output;
  output.version = cached.version;
  output.age = age_of(cached, request);
  output.parts.push_back(make_original_part(cached.bytes, *request.item, false));
  return output;
}

drive::drive_error not_cached_error(const fetch_request& request) {
  failure error{errc::source_unavailable,
                '"' + display_text(request.item->name) + "\" is not cached, and Drive cannot be reached: " +
                    request.offline_reason.public_text + ". Try again later.",
                request.offline_reason.private_text};
  error.retry_after = request.offline_reason.retry_after;
  return make_error(std::move(error), drive::error_kind::unavailable);
}

std::string_view cached_part_name(read_method method) noexcept {
  return method == read_method::workbook ? sheets_part : method == read_method::bytes ? original_part : text_part;
}

failure too_large_error(const item& item, std::uint64_t limit) {
  return {errc::response_too_large,
          '"' + display_text(item.name) + "\" is larger than " + std::to_string(limit) +
              " bytes, the limit of a read. Raise max_read_bytes and the source's max_bytes, or open its web link.",
          {}};
}

}  // namespace

bool is_unreachable(const drive::drive_error& error) noexcept {
  using drive::error_kind;
  return error.kind == error_kind::unavailable || error.kind == error_kind::stalled || error.kind == error_kind::timed_out ||
         error.kind == error_kind::rate_limited || error.kind == error_kind::daily_limit;
}

bool is_unanswered(const drive::drive_error& error) noexcept {
  using drive::error_kind;
  return error.status == 0 &&
         (error.kind == error_kind::unavailable || error.kind == error_kind::stalled || error.kind == error_kind::timed_out);
}

bool is_access_denied(const drive::drive_error& error) noexcept {
  using drive::error_kind;
  return error.kind == error_kind::not_found || error.kind == error_kind::forbidden || error.kind == error_kind::gone ||
         error.kind == error_kind::abusive || error.kind == error_kind::insufficient_scope ||
         error.kind == error_kind::unauthorized || error.kind == error_kind::not_enabled;
}

std::string fetcher::missing_for(rendering::format format) const {
  if (!options_.renderer) return "PDF and Office files are not converted to text (render = false)";
  return options_.renderer->missing_for(format);
}

std::optional<cached_content> fetcher::find_cached(const item& item, std::string_view part_name) const {
  auto cached = options_.store->content(item.id, part_name);
  if (cached) return std::move(*cached);
  if (options_.log) options_.log(cached.error().public_text);
  return std::nullopt;
}

bool fetcher::has_cached(const item& item) const {
  return find_cached(item, cached_part_name(format_of(item).method)).has_value();
}

void fetcher::store_content(const fetch_request& request, std::string_view part_name, std::string_view type,
                            const shared_bytes& bytes, bool uses_export_link) const {
  const cached_content cached{version_of(*request.item), std::string(type), bytes, std::chrono::system_clock::now(),
                              uses_export_link};
  auto stored = options_.store->put_content(request.item->id, part_name, cached);
  if (!stored && options_.log) options_.log(stored.error().public_text + " (" + stored.error().private_text + ')');
}

drive::call_options fetcher::make_call_options(const fetch_request& request, const request_context& context) const {
  drive::call_options call_options;
  call_options.stop = context.stop;
  call_options.deadline = request.has_fallback ? std::min(context.deadline, clock::now() + fallback_timeout) : context.deadline;
  if (*call_options.deadline == clock::time_point::max()) call_options.deadline.reset();
  call_options.priority = drive::request_priority::reading;
  call_options.resource_keys = request.resource_keys;
  return call_options;
}

drive::api_result<fetcher::exported_content> fetcher::export_bytes(const fetch_request& request, std::string_view type,
                                                                   const request_context& context,
                                                                   std::uint64_t max_bytes) const {
  exported_content exported;
  drive::content_sink sink;
  sink.max_bytes = static_cast<std::size_t>(std::min(max_bytes, options_.max_bytes));
  sink.on_data = [&exported](std::string_view chunk) -> result<void> {
    exported.bytes += chunk;
    return {};
  };
  const auto call_options = make_call_options(request, context);
  const std::string mime_type(type);
  auto status = options_.api->export_content(request.item->id, mime_type, sink, call_options);
  if (!status && status.error().kind == drive::error_kind::export_too_large) {
    HONDANA_TRY(const auto file, options_.api->get_file(request.item->id, call_options));
    exported.bytes.clear();
    exported.uses_export_link = true;
    status = options_.api->export_by_link(file, mime_type, sink, call_options);
  }
  if (!status && status.error().kind == drive::error_kind::too_large)
    status.error().details = too_large_error(*request.item, sink.max_bytes);
  if (!status) return tl::unexpected(std::move(status.error()));
  return exported;
}

drive::api_result<fetch_result> fetcher::export_text(const fetch_request& request, const content_format& format,
                                                     const request_context& context, std::uint64_t max_bytes,
                                                     bool is_cacheable) const {
  HONDANA_TRY(auto exported, export_bytes(request, format.export_type, context, max_bytes));
  fetch_result output;
  output.uses_export_link = exported.uses_export_link;
  auto bytes = std::make_shared<const std::string>(std::move(exported.bytes));
  if (is_cacheable) store_content(request, text_part, format.mime_type, bytes, output.uses_export_link);
  auto text = make_text_part(std::move(bytes), format.mime_type);
  if (!format.is_text) text.kind = content_kind::blob;
  output.parts.push_back(std::move(text));
  return output;
}

drive::api_result<fetch_result> fetcher::export_sheets(const fetch_request& request, const content_format& format,
                                                       const request_context& context) const {
  if (auto missing = missing_for(*format.render_format); !missing.empty()) {
    content_format first = format;
    first.export_type = "text/csv";
    auto output = export_text(request, first, context, options_.max_bytes, false);
    if (output) output->problem = "Only the first sheet is included: " + missing + '.';
    return output;
  }
  HONDANA_TRY(auto exported, export_bytes(request, format.export_type, context, options_.max_bytes));
  auto file = temporary_file::create();
  if (!file) return tl::unexpected(make_error(std::move(file.error())));
  if (auto written = file->append(exported.bytes); !written) return tl::unexpected(make_error(std::move(written.error())));
  exported.bytes = std::string();
  auto sheets = options_.renderer->sheets(file->reader(), options_.render_limits, context.stop, context.deadline);
  if (!sheets) return tl::unexpected(make_error(std::move(sheets.error())));
  std::string framed;
  for (const auto& sheet : *sheets) framed += rendering::to_line(sheet);
  store_content(request, sheets_part, format.mime_type, std::make_shared<const std::string>(std::move(framed)),
                exported.uses_export_link);
  fetch_result output;
  output.uses_export_link = exported.uses_export_link;
  output.parts = make_sheet_parts(std::move(*sheets));
  return output;
}

drive::api_result<fetch_result> fetcher::render_export(const fetch_request& request, const content_format& format,
                                                       const request_context& context) const {
  if (auto missing = missing_for(*format.render_format); !missing.empty()) {
    content_format fallback = format;
    fallback.export_type = fallback.mime_type = "text/plain";
    // An incomplete content is not cached: the next read requests it again.
    auto output = export_text(request, fallback, context, options_.max_bytes, false);
    if (output) output->problem = "The speakers' notes are missing: " + missing + '.';
    return output;
  }
  HONDANA_TRY(auto exported, export_bytes(request, format.export_type, context, options_.max_bytes));
  auto file = temporary_file::create();
  if (!file) return tl::unexpected(make_error(std::move(file.error())));
  if (auto written = file->append(exported.bytes); !written) return tl::unexpected(make_error(std::move(written.error())));
  auto text =
      options_.renderer->render(*format.render_format, file->reader(), options_.render_limits, context.stop, context.deadline);
  if (!text) return tl::unexpected(make_error(std::move(text.error())));
  fetch_result output;
  output.uses_export_link = exported.uses_export_link;
  auto bytes = std::make_shared<const std::string>(std::move(text->text));
  if (!text->is_truncated) store_content(request, text_part, format.mime_type, bytes, output.uses_export_link);
  output.parts.push_back(make_text_part(std::move(bytes), format.mime_type, text->is_truncated));
  return output;
}

drive::api_result<fetch_result> fetcher::fetch_original(const fetch_request& request, const request_context& context,
                                                        std::uint64_t max_bytes) const {
  const auto cached = find_cached(*request.item, original_part);
  if (request.is_offline && cached) return make_aged_original(*cached, request);
  if (request.is_offline) return tl::unexpected(not_cached_error(request));
  fetch_result output;
  if (cached && cached->version == version_of(*request.item)) {
    if (cached->bytes->size() > max_bytes)
      return tl::unexpected(make_error(too_large_error(*request.item, max_bytes), drive::error_kind::too_large));
    output.parts.push_back(make_original_part(cached->bytes, *request.item, false));
    return output;
  }
  const auto limit = std::min(max_bytes, options_.max_bytes);
  if (request.item->size && *request.item->size > limit)
    return tl::unexpected(make_error(too_large_error(*request.item, limit), drive::error_kind::too_large));
  disk::spool spool;
  drive::content_sink sink;
  sink.max_bytes = static_cast<std::size_t>(limit);
  sink.on_data = [&spool](std::string_view chunk) { return spool.append(chunk); };
  auto adjusted = request;
  adjusted.has_fallback = adjusted.has_fallback || cached;
  auto status = options_.api->get_content(request.item->id, sink, make_call_options(adjusted, context));
  if (!status && cached && is_unreachable(status.error())) return make_aged_original(*cached, request);
  if (!status && status.error().kind == drive::error_kind::too_large)
    status.error().details = too_large_error(*request.item, limit);
  if (!status) return tl::unexpected(std::move(status.error()));
  auto data = spool.finish();
  if (!data) return tl::unexpected(make_error(std::move(data.error())));
  if (const auto* bytes = std::get_if<shared_bytes>(&*data))
    store_content(request, original_part, request.item->mime_type, *bytes);
  output.parts.push_back(make_original_part(std::move(*data), *request.item, false));
  return output;
}

drive::api_result<fetch_result> fetcher::render_bytes(const fetch_request& request, const content_format& format,
                                                      const request_context& context, std::uint64_t max_bytes) const {
  auto problem = missing_for(*format.render_format);
  auto original = fetch_original(request, context, options_.max_bytes);
  if (!original) return original;
  auto& content = original->parts.front();
  if (original->age) content.kind = content_kind::blob;
  if (original->age) return original;
  const auto as_original = [&](std::string reason) -> drive::api_result<fetch_result> {
    if (size_of(content.data) > max_bytes) return tl::unexpected(make_error(too_large_error(*request.item, max_bytes)));
    content.kind = content_kind::blob;
    original->problem = "It could not be converted to text: " + std::move(reason) + '.';
    return std::move(original);
  };
  if (!problem.empty()) return as_original(std::move(problem));
  auto file = temporary_file::create();
  if (!file) return tl::unexpected(make_error(std::move(file.error())));
  if (const auto* bytes = std::get_if<shared_bytes>(&content.data)) {
    if (auto written = file->append(**bytes); !written) return tl::unexpected(make_error(std::move(written.error())));
  } else {
    auto& reader = *std::get<std::shared_ptr<byte_reader>>(content.data);
    std::string window(256u << 10, '\0');
    for (std::uint64_t left = reader.size(); left > 0;) {
      auto count = reader.read(window);
      if (!count) return tl::unexpected(make_error(std::move(count.error())));
      if (auto written = file->append(std::string_view(window).substr(0, *count)); !written)
        return tl::unexpected(make_error(std::move(written.error())));
      left -= *count;
    }
    if (auto rewound = reader.rewind(); !rewound) return tl::unexpected(make_error(std::move(rewound.error())));
  }
  auto text =
      options_.renderer->render(*format.render_format, file->reader(), options_.render_limits, context.stop, context.deadline);
  if (!text && (text.error().code == errc::cancelled || text.error().code == errc::timed_out))
    return tl::unexpected(make_error(std::move(text.error())));
  if (!text) return as_original(std::move(text.error().public_text));
  fetch_result output;
  auto bytes = std::make_shared<const std::string>(std::move(text->text));
  if (!text->is_truncated) store_content(request, text_part, format.mime_type, bytes);
  const auto used = bytes->size();
  output.parts.push_back(make_text_part(std::move(bytes), format.mime_type, text->is_truncated));
  if (used <= max_bytes && size_of(content.data) <= max_bytes - used)
    output.parts.push_back(make_original_part(std::move(content.data), *request.item, true));
  return output;
}

drive::api_result<fetch_result> fetcher::fetch_content(const fetch_request& request, const request_context& context,
                                                       std::uint64_t max_bytes) const {
  const auto format = format_of(*request.item);
  if (format.method == read_method::none) {
    const auto& link = request.item->web_link;
    return tl::unexpected(make_error({errc::unsupported,
                                      "Drive does not export the content of a " + type_word(request.item->mime_type) + "." +
                                          (link.starts_with("https://") ? " Open " + link + " in a browser." : std::string()),
                                      {}},
                                     drive::error_kind::not_exportable));
  }
  const auto cached = find_cached(*request.item, cached_part_name(format.method));
  const auto from_cache = [&]() -> drive::api_result<fetch_result> {
    fetch_result output;
    output.version = cached->version;
    output.uses_export_link = cached->uses_export_link;
    if (format.method == read_method::workbook) {
      auto sheets = rendering::parse_sheets(*cached->bytes);
      if (!sheets) return tl::unexpected(make_error(std::move(sheets.error())));
      output.parts = make_sheet_parts(std::move(*sheets));
      return output;
    }
    auto part = format.method == read_method::bytes ? make_original_part(cached->bytes, *request.item, false)
                                                    : make_text_part(cached->bytes, cached->mime_type);
    if (format.method == read_method::exported && !format.is_text) part.kind = content_kind::blob;
    output.parts.push_back(std::move(part));
    return output;
  };
  const bool is_current = cached && cached->version == version_of(*request.item);
  if (is_current && !request.is_offline && format.method != read_method::rendered) return from_cache();
  drive::api_result<fetch_result> output = tl::unexpected(drive::drive_error());
  if (!request.is_offline) {
    auto adjusted = request;
    adjusted.has_fallback = cached.has_value();
    switch (format.method) {
      case read_method::exported:
        output = export_text(adjusted, format, context, max_bytes);
        break;
      case read_method::workbook:
        output = export_sheets(adjusted, format, context);
        break;
      case read_method::slides:
        output = render_export(adjusted, format, context);
        break;
      case read_method::rendered: {
        if (!is_current) {
          output = render_bytes(adjusted, format, context, max_bytes);
          break;
        }
        output = from_cache();
        const auto used = output ? size_of(output->parts.front().data) : max_bytes;
        auto original = used < max_bytes ? fetch_original(adjusted, context, max_bytes - used) : output;
        if (!original && is_access_denied(original.error())) return original;
        if (original && used < max_bytes && output) {
          original->parts.front().kind = content_kind::blob;
          output->parts.push_back(std::move(original->parts.front()));
        }
        break;
      }
      default:
        output = fetch_original(adjusted, context, max_bytes);
        break;
    }
    if (output || !is_unreachable(output.error())) return output;
  }
  if (!cached && request.is_offline) return tl::unexpected(not_cached_error(request));
  if (!cached) return output;
  output = from_cache();
  if (output) output->age = age_of(*cached, request);
  return output;
}

}  // namespace hondana::gdrive
