/// The view of one resource, and what is a list by what its source says.
#include "search/index/alone.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::search {
namespace {

/// Far from those that access rules count up.
constexpr std::uint64_t first_id = 1ull << 63;

/// As sources call what gives others' names or texts: folders and outlines of documents, trees of git.
constexpr std::array<std::string_view, 3> kinds_of_lists{"folder", "outline", "tree"};

/// Without query and fragment.
std::string_view whole_of(std::string_view uri) noexcept { return uri.substr(0, uri.find_first_of("?#")); }

class view_of_one final : public view {
 public:
  explicit view_of_one(std::string uri) : uri_(std::move(uri)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return id_; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    // Rules hide a resource with all of its parts, so that sources ask for the whole before they give a part.
    if (uri == whole_of(uri_)) return true;
    return uri.starts_with(uri_) && (uri.size() == uri_.size() || uri[uri_.size()] == '?' || uri[uri_.size()] == '#');
  }

 private:
  static std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{first_id};
    return ++last;
  }
  const std::string uri_;
  const std::uint64_t id_ = next_id();
};

}  // namespace

std::shared_ptr<const view> alone_with(std::string uri) { return std::make_shared<const view_of_one>(std::move(uri)); }

bool is_list_by_type(std::string_view mime_type) noexcept {
  return ascii::is_same(mime_type.substr(0, mime_type.find(';')), "inode/directory");
}

bool is_list_of_others(const resource& entry) noexcept {
  return is_list_by_type(entry.mimeType) ||
         std::find(kinds_of_lists.begin(), kinds_of_lists.end(), entry.kind) != kinds_of_lists.end();
}

}  // namespace hondana::search
