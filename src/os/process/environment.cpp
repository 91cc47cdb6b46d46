/// Copies of the environment.
#include "os/process/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

extern char** environ;

namespace hondana::process {

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view text(*one);
    const auto name = text.substr(0, text.find('='));
    if (std::none_of(more.begin(), more.end(), [name](const auto& set) { return set.first == name; })) out.emplace_back(text);
  }
  for (const auto& [name, text] : more) out.push_back(name + '=' + text);
  return out;
}

std::vector<std::string> environment_of(const std::vector<std::pair<std::string, std::string>>& all) {
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [name, text] : all) out.push_back(name + '=' + text);
  return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& one : texts) out.push_back(one.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace hondana::process
