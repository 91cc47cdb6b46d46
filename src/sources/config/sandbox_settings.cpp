/// Reading `[sandbox]`.
#include "sources/config/sandbox_settings.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sources/config/collector.hpp"

namespace hondana::config {

std::optional<sandbox_mode> sandbox_mode_named(std::string_view name) noexcept {
  if (name == "auto") return sandbox_mode::as_far_as_possible;
  if (name == "required") return sandbox_mode::required;
  if (name == "off") return sandbox_mode::off;
  return {};
}

result<sandbox_settings> read_sandbox(section from) {
  sandbox_settings made;
  collector errors;
  std::optional<std::string> mode;
  errors.take(from.string("mode"), mode);
  if (mode) {
    if (const auto known = sandbox_mode_named(*mode)) {
      made.mode = *known;
    } else {
      errors.note(from.wrong("mode", "expected \"auto\", \"required\" or \"off\""));
    }
  }
  auto folders = from.strings("folders");
  if (!folders) {
    errors.note(std::move(folders.error()));
  } else {
    for (const auto& one : *folders) {
      std::error_code problem;
      const auto whole = std::filesystem::absolute(from.path_from(one), problem);
      if (one.empty() || one.find('\0') != std::string::npos || problem)
        errors.note(from.wrong("folders", "expected paths of folders"));
      made.folders.push_back(whole.lexically_normal().string());
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
