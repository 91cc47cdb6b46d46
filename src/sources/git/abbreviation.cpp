/// Looking for ids, a digit more each time that there are several.
#include "sources/git/abbreviation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

class id_search {
 public:
  id_search(git_odb* in, std::size_t most) noexcept : in_(in), most_(most) {}

  int find(const std::string& digits) {
    if (found_.size() == most_) return 0;
    git_oid wanted{}, id{};
    if (const int code = git_oid_fromstrn(&wanted, digits.data(), digits.size()); code < 0) return code;
    const int code = git_odb_exists_prefix(&id, in_, &wanted, digits.size());
    if (code == GIT_ENOTFOUND) return 0;
    if (code == 0) found_.push_back(id);
    if (code != GIT_EAMBIGUOUS) return code;
    for (const char digit : hex_digits)
      if (const int problem = find(digits + digit); problem < 0) return problem;
    return 0;
  }
  [[nodiscard]] std::vector<git_oid> take() { return std::move(found_); }

 private:
  git_odb* const in_;
  const std::size_t most_;
  std::vector<git_oid> found_;
};

}  // namespace

bool is_abbreviation(std::string_view text) noexcept {
  return text.size() >= shortest_abbreviation && text.size() <= GIT_OID_HEXSZ &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return hex_digits.find(ascii::lower(c)) != std::string_view::npos; });
}

result<std::vector<git_oid>> ids_beginning(git_odb* in, std::string_view digits, std::size_t most) {
  id_search search(in, most);
  const int code = search.find(ascii::in_lower_case(digits));
  git_error_clear();
  if (code < 0) return failed("the repository's objects cannot be searched; run `git fsck` for details");
  return search.take();
}

}  // namespace hondana::git
