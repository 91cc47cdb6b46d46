/// What the fixture servers are put together from.
#pragma once

#include <string>
#include <string_view>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

namespace transcripts {

/// Throws when a fixture cannot be made: a mistake in a test.
void check(const hondana::result<void>& done);

[[nodiscard]] hondana::resource named(std::string uri, std::string name);
[[nodiscard]] hondana::resource_template template_of(std::string text, std::string name);

/// What a read's template has for a variable; empty where it has none.
[[nodiscard]] std::string variable(const hondana::read_request& request, std::string_view name);

/// Nothing is announced.
[[nodiscard]] hondana::server_options options_of(std::string title);

}  // namespace transcripts
