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
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits render_limits{};
  std::uint64_t max_bytes = 64u << 20;  ///< Limit of a fetched content.
  std::function<void(std::string_view)> log{};
};

/// A file to fetch, and how.
struct fetch_request {
  shared_item item{};
  std::vector<drive::resource_key> resource_keys{};
  bool is_offline = false;   ///< Drive was unreachable a moment ago: serve cached contents only.
  failure offline_reason{};  ///< Why Drive was unreachable.
  /// When `item` was last known to be current. Empty: when the cached content was read.
  std::optional<std::chrono::system_clock::time_point> verified_at{};
  bool has_fallback = false;  ///< A cached copy can be served instead, so Drive gets little time.
};

/// One content: the whole text, one sheet, or the bytes of the file.
struct part {
  std::string sheet{};
  std::string mime_type{};
  content_kind kind = content_kind::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  bool is_truncated = false;
  bool is_original = false;
  std::string charset{};           ///< The encoding before the conversion to UTF-8; empty if it was not converted.
  std::size_t replaced_count = 0;  ///< Invalid sequences that were replaced.
};

/// The result of a fetch.
struct fetch_result {
  std::vector<part> parts{};
  std::string version{};                      ///< The version of the cached content, if that is what was fetched.
  bool uses_export_link = false;              ///< The file was too large to export, and was downloaded by its export link.
  std::optional<std::chrono::seconds> age{};  ///< Age of the cached content; set only if Drive is unreachable.
  std::string problem{};                      ///< What is missing, and why.
};

/// Whether an error means that Drive is unreachable now, and not that access was denied. False for the client's own rate limit.
[[nodiscard]] bool is_unreachable(const drive::drive_error& error) noexcept;
/// Whether an error means that no answer arrived at all. A subset of `is_unreachable`.
[[nodiscard]] bool is_unanswered(const drive::drive_error& error) noexcept;
/// Whether Google has answered and denied access.
[[nodiscard]] bool is_access_denied(const drive::drive_error& error) noexcept;

/// Threads: any.
class fetcher {
 public:
  explicit fetcher(fetch_options options) : options_(std::move(options)) {}

  /// Fetches what a read of a file returns: its text, its sheets, or its bytes. For a rendered file both text and bytes, if
  /// they fit into `max_bytes`. Errors: those of Drive, with their `error_kind`; unsupported for types that Drive does not
  /// export.
  [[nodiscard]] drive::api_result<fetch_result> fetch_content(const fetch_request& request, const request_context& context,
                                                              std::uint64_t max_bytes) const;
  /// Whether a cached content can be served while Drive is unreachable.
  [[nodiscard]] bool has_cached(const item& item) const;
  /// Fetches the bytes of a file that has its own.
  [[nodiscard]] drive::api_result<fetch_result> fetch_original(const fetch_request& request, const request_context& context,
                                                               std::uint64_t max_bytes) const;

 private:
  struct exported_content {
    std::string bytes{};
    bool uses_export_link = false;
  };
  [[nodiscard]] drive::api_result<exported_content> export_bytes(const fetch_request& request, std::string_view type,
                                                                 const request_context& context, std::uint64_t max_bytes) const;
  [[nodiscard]] drive::api_result<fetch_result> export_text(const fetch_request& request, const content_format& format,
                                                            const request_context& context, std::uint64_t max_bytes,
                                                            bool is_cacheable = true) const;
  [[nodiscard]] drive::api_result<fetch_result> export_sheets(const fetch_request& request, const content_format& format,
                                                              const request_context& context) const;
  [[nodiscard]] drive::api_result<fetch_result> render_export(const fetch_request& request, const content_format& format,
                                                              const request_context& context) const;
  [[nodiscard]] drive::api_result<fetch_result> render_bytes(const fetch_request& request, const content_format& format,
                                                             const request_context& context, std::uint64_t max_bytes) const;
  /// Why a format cannot be rendered; empty if it can.
  [[nodiscard]] std::string missing_for(rendering::format format) const;
  [[nodiscard]] std::optional<cached_content> find_cached(const item& item, std::string_view part_name) const;
  void store_content(const fetch_request& request, std::string_view part_name, std::string_view type, const shared_bytes& bytes,
                     bool uses_export_link = false) const;
  [[nodiscard]] drive::call_options make_call_options(const fetch_request& request, const request_context& context) const;

  const fetch_options options_;
};

}  // namespace hondana::gdrive
