/// The table of providers, generated from providers.def.
#include "app/cli/providers.hpp"

#include <array>

#define HONDANA_PROVIDER(type, folder)                                                                                     \
  namespace hondana::folder {                                                                                              \
  result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log); \
  scheme_documentation describe_scheme();                                                                                  \
  }
#include "app/cli/providers.def"
#undef HONDANA_PROVIDER

namespace hondana::cli {

std::span<const provider_type> provider_types() noexcept {
#define HONDANA_PROVIDER(type, folder) provider_type{#type, &hondana::folder::configure, &hondana::folder::describe_scheme},
  static constexpr std::array types{
#include "app/cli/providers.def"
  };
#undef HONDANA_PROVIDER
  return types;
}

}  // namespace hondana::cli
