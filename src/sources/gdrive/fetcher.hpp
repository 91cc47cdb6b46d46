/// Fetches the content of Drive files: downloads, exports, rendering and cached copies.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/gdrive/drive_api.hpp"
#include "sources/gdrive/item.hpp"
#include "sources/gdrive/store.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::gdrive {

/// Dependencies and limits of a `fetcher`.
struct fetch_options {
  std::shared_ptr<drive_api> api{};
  std::shared_ptr<drive_store> store{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Converts files to text. Null: no files are converted.
  rendering::limits render_limits{};
  std::uint64_t max_bytes = 64u << 20;          ///< Limit of a downloaded or exported content.
  std::function<void(std::string_view)> log{};  ///< May be empty. Threads: any.
};

/// A file to fetch, and how.
struct fetch_request {
  shared_item item{};
  std::vector<drive::resource_key> resource_keys{};  ///< Of the file and of the folders above it.
  bool is_offline = false;   ///< Drive was unreachable a moment ago: send no requests, and return cached contents only.
  failure offline_reason{};  ///< With `is_offline`: why Drive was unreachable.
  /// When `item` was last known to be current, for `fetch_result::age`. nullopt: unknown.
  std::optional<std::chrono::system_clock::time_point> verified_at{};
  bool has_fallback = false;  ///< Set by the `fetcher`: a cached content can be returned, so requests get only ten seconds.
};

/// One content of a file: the whole text, one sheet, or the bytes of the file.
struct part {
  std::string sheet{};  ///< Name of the sheet. Empty: the content is not a sheet.
  std::string mime_type{};
  content_kind kind = content_kind::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  bool is_truncated = false;       ///< The renderer reached a limit, so the end is missing.
  bool is_original = false;        ///< The bytes of the file, not converted.
  std::string charset{};           ///< The encoding before the conversion to UTF-8. Empty: it was not converted.
  std::size_t replaced_count = 0;  ///< Number of invalid sequences that the conversion replaced.
};

/// The result of a fetch.
struct fetch_result {
  std::vector<part> parts{};
  std::string version{};                      ///< The version of a cached content. May be empty if it is the current one.
  bool uses_export_link = false;              ///< The file was too large to export, and was downloaded by its export link.
  std::optional<std::chrono::seconds> age{};  ///< Age of a cached content. Set only if Drive is unreachable.
  std::string problem{};                      ///< For people: what is missing, and why. Empty: nothing.
};

/// Whether Drive cannot be used now: no answer, an unavailable server, or Google's rate limit. False for denied access, and for
/// the client's own rate limit.
[[nodiscard]] bool is_unreachable(const drive::drive_error& error) noexcept;
/// Whether no answer arrived at all. Implies `is_unreachable`.
[[nodiscard]] bool is_unanswered(const drive::drive_error& error) noexcept;
/// Whether Google has answered and denied access to the file or to the account.
[[nodiscard]] bool is_access_denied(const drive::drive_error& error) noexcept;

/// Fetches contents from Drive, and caches them. If Drive is unreachable, returns the cached content of any version, with its
/// age. Threads: any.
class fetcher {
 public:
  explicit fetcher(fetch_options options) : options_(std::move(options)) {}

  /// Fetches what a read of a file returns: its text, its sheets, or its bytes. For `read_method::rendered`, the text and then
  /// the bytes, if both fit into `max_bytes`. Errors: those of `drive_api`, with their `error_kind`; not_exportable for types
  /// that Drive does not export; unavailable if Drive is unreachable and nothing is cached; sink for errors of this machine.
  [[nodiscard]] drive::api_result<fetch_result> fetch_content(const fetch_request& request, const request_context& context,
                                                              std::uint64_t max_bytes) const;
  /// Whether a content is cached, of any version.
  [[nodiscard]] bool has_cached(const item& item) const;
  /// Fetches the bytes of a file that has bytes of its own (`read_method::rendered` or `bytes`). Errors: as `fetch_content`.
  [[nodiscard]] drive::api_result<fetch_result> fetch_original(const fetch_request& request, const request_context& context,
                                                               std::uint64_t max_bytes) const;

 private:
  struct exported_content {
    std::string bytes{};
    bool uses_export_link = false;
  };
  /// Exports a file as the MIME type `type`; if it is too large for that, downloads its export link.
  [[nodiscard]] drive::api_result<exported_content> export_bytes(const fetch_request& request, std::string_view type,
                                                                 const request_context& context, std::uint64_t max_bytes) const;
  /// Exports a file as one content.
  [[nodiscard]] drive::api_result<fetch_result> export_text(const fetch_request& request, const content_format& format,
                                                            const request_context& context, std::uint64_t max_bytes,
                                                            bool is_cacheable = true) const;
  /// Exports a spreadsheet, and splits it into sheets. Without a renderer, returns only the first sheet.
  [[nodiscard]] drive::api_result<fetch_result> export_sheets(const fetch_request& request, const content_format& format,
                                                              const request_context& context) const;
  /// Exports a presentation, and converts it to text. Without a renderer, the notes are missing.
  [[nodiscard]] drive::api_result<fetch_result> render_export(const fetch_request& request, const content_format& format,
                                                              const request_context& context) const;
  /// Downloads a file, and converts it to text. If that fails, returns only the bytes, with a `problem`.
  [[nodiscard]] drive::api_result<fetch_result> render_bytes(const fetch_request& request, const content_format& format,
                                                             const request_context& context, std::uint64_t max_bytes) const;
  /// Why a format cannot be rendered. Empty: it can.
  [[nodiscard]] std::string missing_for(rendering::format format) const;
  // `part_name`: which content of the file: "text", "sheets" or "original". Both functions log errors.
  [[nodiscard]] std::optional<cached_content> find_cached(const item& item, std::string_view part_name) const;
  void store_content(const fetch_request& request, std::string_view part_name, std::string_view type, const shared_bytes& bytes,
                     bool uses_export_link = false) const;
  [[nodiscard]] drive::call_options make_call_options(const fetch_request& request, const request_context& context) const;

  const fetch_options options_;
};

}  // namespace hondana::gdrive
