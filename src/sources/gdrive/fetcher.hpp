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

struct fetch_options {
  std::shared_ptr<remote> from{};
  std::shared_ptr<kept> where{};
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: nothing is rendered.
  rendering::limits rendered{};
  std::uint64_t most_bytes = 64u << 20;  ///< Of what is fetched.
  std::function<void(std::string_view)> log{};
};

/// What is wanted.
struct wanted {
  shared_item what{};
  std::vector<drive::resource_key> keys{};
  bool is_offline = false;  ///< Drive could not be reached a moment ago: only what is kept.
  failure why{};            ///< That it is offline.
  /// When it was last known to be as it is; nothing: since it was read.
  std::optional<std::chrono::system_clock::time_point> sure_at{};
  bool has_other = false;  ///< Something is kept that can be given instead, so that Drive is not waited for for long.
};

/// One content: the whole text, one sheet, or the bytes of the file.
struct part {
  std::string sheet{};
  std::string mime_type{};
  content_form form = content_form::detect;
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data{};
  bool is_cut = false;
  bool is_original = false;
  std::string charset{};     ///< What it was before it was converted; empty: it was not.
  std::size_t replaced = 0;  ///< Places that are not of that encoding.
};

struct fetched {
  std::vector<part> parts{};
  std::string version{};                      ///< Of what is kept, where it is that.
  bool is_by_link = false;                    ///< It was too large to be exported, and came by the export link.
  std::optional<std::chrono::seconds> age{};  ///< Drive cannot be reached: so old it is.
  std::string problem{};                      ///< What is missing, and why.
};

/// Whether an error says that Drive cannot be reached now, and not that something is not given. That we ask as often as we let
/// ourselves is neither.
[[nodiscard]] bool says_unreachable(const drive::refusal& why) noexcept;
/// Of these, whether nothing came back at all.
[[nodiscard]] bool says_cut_off(const drive::refusal& why) noexcept;
/// Whether Google has answered, and does not give it to us.
[[nodiscard]] bool says_refused(const drive::refusal& why) noexcept;

/// Threads: any.
class fetcher {
 public:
  explicit fetcher(fetch_options with) : with_(std::move(with)) {}

  /// What reads of a file give: its text, its sheets, or its bytes; of one that is rendered, both, if `most` bytes allow it.
  /// Errors: of Drive, with `trouble`; unsupported for what Drive gives to nobody.
  [[nodiscard]] drive::answer<fetched> content_of(const wanted& which, const call& by, std::uint64_t most) const;
  /// Whether something is kept that can be given where Drive cannot be reached.
  [[nodiscard]] bool has_kept(const item& of) const;
  /// The bytes of a file that has some.
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
  /// Why nothing can be rendered; empty: it can.
  [[nodiscard]] std::string missing_for(rendering::format what) const;
  [[nodiscard]] std::optional<kept_content> kept_of(const item& of, std::string_view which_part) const;
  void keep(const wanted& which, std::string_view which_part, std::string_view type, const shared_bytes& bytes,
            bool is_by_link = false) const;
  [[nodiscard]] drive::errand errand_of(const wanted& which, const call& by) const;

  const fetch_options with_;
};

}  // namespace hondana::gdrive
