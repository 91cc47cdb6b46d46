/// The names of scopes, and the refusal of all others.
#include "auth/google/scopes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "auth/oauth/code_request.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::google {
namespace {

constexpr std::string_view scope_place = "https://www.googleapis.com/auth/";
constexpr std::string_view whole_drive = "https://www.googleapis.com/auth/drive";
constexpr std::array<std::pair<scope, std::string_view>, 2> known_scopes{
    {{scope::drive_metadata_readonly, "https://www.googleapis.com/auth/drive.metadata.readonly"},
     {scope::drive_readonly, "https://www.googleapis.com/auth/drive.readonly"}}};

}  // namespace

std::string_view url_of(scope one) noexcept {
  return std::find_if(known_scopes.begin(), known_scopes.end(), [one](const auto& known) { return known.first == one; })
      ->second;
}

result<scopes> read_scopes(const std::vector<std::string>& names) {
  if (names.empty()) return scopes{scope::drive_readonly};
  scopes out;
  for (const auto& name : names) {
    const auto found = std::find_if(known_scopes.begin(), known_scopes.end(), [&name](const auto& known) {
      return known.second == name || known.second.substr(scope_place.size()) == name;
    });
    if (found == known_scopes.end())
      return fail(errc::invalid_argument, "the scope \"" + oauth::cleaned(name) +
                                              "\" is not supported: hondana only reads Drive; write drive.readonly, or "
                                              "drive.metadata.readonly for names without contents");
    out.insert(found->first);
  }
  return out;
}

std::string spelled(const scopes& of) {
  std::string out;
  for (const auto one : of) out += (out.empty() ? "" : " ") + std::string(url_of(one));
  return out;
}

coverage coverage_of(std::string_view granted, const scopes& asked) {
  const auto has = oauth::read_scopes(granted).value_or(oauth::scope_set());
  coverage out{.is_enough = true};
  for (const auto one : asked) {
    const bool is_there = has.contains(url_of(one)) || has.contains(whole_drive) ||
                          (one == scope::drive_metadata_readonly && has.contains(url_of(scope::drive_readonly)));
    out.is_enough = out.is_enough && is_there;
  }
  out.is_more = std::any_of(has.begin(), has.end(), [](const std::string& one) {
    return one.starts_with(scope_place) && one != url_of(scope::drive_readonly) &&
           one != url_of(scope::drive_metadata_readonly) && one.find("userinfo") == std::string::npos;
  });
  return out;
}

bool may_read_contents(const scopes& of) noexcept { return of.contains(scope::drive_readonly); }

}  // namespace hondana::google
