/// Alternates, followed as far as they stay inside.
#include "sources/git/object_folders.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace hondana::git {
namespace {

constexpr std::size_t deepest_alternate = 5;
constexpr std::string_view alternates_name = "objects/info/alternates";

class alternates_walk {
 public:
  alternates_walk(const enclosure& inside, const screening_limits& limits) : inside_(inside), limits_(limits) {}

  result<void> enter(const std::string& folder, std::size_t depth) {
    if (std::find(found_.begin(), found_.end(), folder) != found_.end()) return {};
    if (found_.size() > limits_.alternates) return refuse("names more than " + std::to_string(limits_.alternates) + " folders");
    if (depth > deepest_alternate) return refuse("chains more than five repositories");
    found_.push_back(folder);
    const auto text = inside_.read(folder + "/info/alternates", limits_.pointer_bytes * limits_.alternates);
    if (!text) {
      if (text.error() == astray::missing) return {};
      return refuse(std::string(text_of(text.error())));
    }
    std::string_view rest = *text;
    for (std::size_t line = 1; !rest.empty(); ++line) {
      const auto one = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      HONDANA_TRY(enter_line(one, line, folder, depth));
    }
    return {};
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(found_); }

 private:
  result<void> enter_line(std::string_view text, std::size_t line, const std::string& folder, std::size_t depth) {
    if (text.empty() || text.starts_with('#')) return {};
    const auto at = ", line " + std::to_string(line) + ",";
    if (text.starts_with('"')) return refuse("has a path in quotes" + at + " which is not supported");
    const auto path = text.starts_with('/') ? std::string(text) : folder + '/' + std::string(text);
    const auto next = inside_.folder(path);
    if (next) return enter(*next, depth + 1);
    if (next.error() == astray::missing || next.error() == astray::no_folder) return {};
    return refuse("names a folder" + at + " that " + std::string(text_of(next.error())));
  }

  static tl::unexpected<failure> refuse(const std::string& why) {
    return fail(errc::invalid_argument, std::string(alternates_name) + ' ' + why +
                                            ". Run `git repack -a -d` to copy the borrowed objects, then remove the file.");
  }

  const enclosure& inside_;
  const screening_limits& limits_;
  std::vector<std::string> found_;
};

}  // namespace

result<std::vector<std::string>> object_folders_of(const enclosure& inside, const std::string& common_folder,
                                                   const screening_limits& limits) {
  const auto own = inside.folder(common_folder + "/objects");
  if (!own) {
    const auto said = "the repository's folder \"objects\" " + std::string(text_of(own.error())) + ", so nothing can be read";
    return fail(own.error() == astray::outside ? errc::invalid_argument : errc::resource_not_found, said + ". Serve a clone.");
  }
  alternates_walk walk(inside, limits);
  HONDANA_TRY(walk.enter(*own, 0));
  return walk.take();
}

}  // namespace hondana::git
