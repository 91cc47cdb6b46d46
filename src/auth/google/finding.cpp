/// Looks for credentials in files and in the environment.
#include <sys/stat.h>

#include <cstdlib>
#include <utility>

#include "auth/google/credentials.hpp"
#include "os/disk/private_file.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::google {
namespace {

/// A text about a file in which the path is for the log only.
std::string without(std::string text, const std::string& path, const std::string& instead) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + instead.size()))
    text.replace(at, path.size(), instead);
  return text;
}

result<found_credentials> parsed(std::string_view json, const credential_places& in, std::string from, std::string path) {
  auto who = parse_credentials(json, in.token_url);
  if (!who)
    return fail(who.error().code, from + " cannot be used: " + who.error().public_text,
                path.empty() ? std::string() : "it is " + path);
  return found_credentials{std::move(*who), std::move(from), std::move(path)};
}

result<found_credentials> of_file(const std::string& path, const credential_places& in, const std::string& from) {
  auto read = disk::read_private(path, most_credential_bytes);
  if (read) return parsed(read->bytes, in, from, path);
  const auto& why = read.error();
  if (why.code == errc::resource_not_found)
    return fail(errc::unauthorized, from + " does not exist; " + (in.advice.empty() ? "create it" : in.advice),
                why.public_text);
  return fail(why.code, from + " cannot be used: " + without(why.public_text, path, "it"), why.public_text);
}

/// Of the file alone, whatever it holds.
std::string state_of(const std::string& path) {
  if (path.empty()) return "-";
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return "none";
  return disk::version_of(disk::stamp_of(facts));
}

bool is_there(const std::string& path) {
  struct stat facts{};
  return !path.empty() && ::stat(path.c_str(), &facts) == 0;
}

std::string variable(const credential_places& in, const char* name) {
  return in.variables ? in.variables(name) : std::string();
}

}  // namespace

environment own_environment() {
  return [](const char* name) {
    const char* const set = std::getenv(name);
    return std::string(set == nullptr ? "" : set);
  };
}

result<found_credentials> find_credentials(const credential_places& in) {
  if (!in.file.empty()) return of_file(in.file, in, "the file that `credentials` names");
  if (const auto json = variable(in, inline_variable); !json.empty())
    return parsed(json, in, std::string("the value of ") + inline_variable, {});
  if (is_there(in.log_in_file)) return of_file(in.log_in_file, in, "the stored login");
  if (const auto path = variable(in, file_variable); !path.empty())
    return of_file(path, in, std::string("the file that ") + file_variable + " names");
  return fail(errc::unauthorized,
              "there are no Google credentials; " +
                  (in.advice.empty() ? std::string("set credentials to the key file of a service account") : in.advice));
}

std::string stamp_of(const credential_places& in) {
  if (!in.file.empty()) return state_of(in.file);
  return state_of(in.log_in_file) + ' ' + state_of(variable(in, file_variable));
}

std::string usual_log_in_file(std::string_view source, const environment& of) {
  const auto data = of("XDG_DATA_HOME");
  const auto home = of("HOME");
  if (!data.starts_with('/') && !home.starts_with('/')) return {};
  return (data.starts_with('/') ? data : home + "/.local/share") + "/hondana/google-" + std::string(source) + ".json";
}

}  // namespace hondana::google
