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
  std::shared_ptr<remote> from{};
  std::shared_ptr<kept> where{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits rendered{};
  std::uint64_t most_bytes = 64u << 20;  ///< Limit of a fetched content.
  std::function<void(std::string_view)> log{};
};

/// A file to fetch, and how.
struct wanted {
  shared_item what{};
  std::vector<drive::resource_key> keys{};
  bool is_offline = false;  ///< Drive was unreachable a moment ago: serve cached contents only.
  failure why{};            ///< Why Drive was unreachable.
  /// When `what` was last known to be current. Empty: when the cached content was read.
  std::optional<std::chrono::system_clock::time_point> sure_at{};
  bool has_other = false;  ///< A cached copy can be served instead, so Drive gets little time.
};

/// One content: the whole text, one sheet, or the bytes of the file.
struct part {
  std::string sheet{};
  std::string mime_type{};
  content_form form = content_form::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  bool is_cut = false;
  bool is_original = false;
  std::string charset{};     ///< The encoding before the conversion to UTF-8; empty if it was not converted.
  std::size_t replaced = 0;  ///< Invalid sequences that were replaced.
};

/// The result of a fetch.
struct fetched {
  std::vector<part> parts{};
  std::string version{};                      ///< The version of the cached content, if that is what was fetched.
  bool is_by_link = false;                    ///< The file was too large to export, and was downloaded by its export link.
  std::optional<std::chrono::seconds> age{};  ///< Age of the cached content; set only if Drive is unreachable.
  std::string problem{};                      ///< What is missing, and why.
};

/// Whether an error means that Drive is unreachable now, and not that access was denied. False for the client's own rate limit.
[[nodiscard]] bool says_unreachable(const drive::refusal& why) noexcept;
/// Whether an error means that no answer arrived at all. A subset of `says_unreachable`.
[[nodiscard]] bool says_cut_off(const drive::refusal& why) noexcept;
/// Whether Google has answered and denied access.
[[nodiscard]] bool says_refused(const drive::refusal& why) noexcept;

/// Threads: any.
class fetcher {
 public:
  explicit fetcher(fetch_options with) : with_(std::move(with)) {}

  /// Fetches what a read of a file returns: its text, its sheets, or its bytes. For a rendered file both text and bytes, if
  /// they fit into `most` bytes. Errors: those of Drive, with `trouble`; unsupported for types that Drive does not export.
  [[nodiscard]] drive::answer<fetched> content_of(const wanted& which, const call& by, std::uint64_t most) const;
  /// Whether a cached content can be served while Drive is unreachable.
  [[nodiscard]] bool has_kept(const item& of) const;
  /// Fetches the bytes of a file that has its own.
  [[nodiscard]] drive::answer<fetched> original_of(const wanted& which, const call& by, std::uint64_t most) const;

 private:
  struct taken {
    std::string bytes{};
    bool is_by_link = false;
  };
  [[nodiscard]] drive::answer<taken> exported(const wanted& which, std::string_view type, const call& by,
                                              std::uint64_t most) const;
  [[nodiscard]] drive::answer<fetched> export_text(const wanted& which, const format& how, const call& by, std::uint64_t most,
                                                   bool is_kept = true) const;
  [[nodiscard]] drive::answer<fetched> cut_workbook(const wanted& which, const format& how, const call& by) const;
  [[nodiscard]] drive::answer<fetched> render_export(const wanted& which, const format& how, const call& by) const;
  [[nodiscard]] drive::answer<fetched> render_bytes(const wanted& which, const format& how, const call& by,
                                                    std::uint64_t most) const;
  /// Why a format cannot be rendered; empty if it can.
  [[nodiscard]] std::string missing_for(rendering::format what) const;
  [[nodiscard]] std::optional<kept_content> kept_of(const item& of, std::string_view which_part) const;
  void keep(const wanted& which, std::string_view which_part, std::string_view type, const shared_bytes& bytes,
            bool is_by_link = false) const;
  [[nodiscard]] drive::errand errand_of(const wanted& which, const call& by) const;

  const fetch_options with_;
};

}  // namespace hondana::gdrive
