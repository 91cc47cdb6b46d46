/// The parts of a server that has one of everything the protocol knows.
#pragma once

#include <chrono>
#include <string>

#include <hondana/server.hpp>

namespace everything {

using hondana::result;
using hondana::server;

/// Each adds its part; the first thing that is refused ends it.
[[nodiscard]] result<void> add_resources(server& to);
[[nodiscard]] result<void> add_plain_tools(server& to);
[[nodiscard]] result<void> add_talking_tools(server& to);
[[nodiscard]] result<void> add_form_tools(server& to);
[[nodiscard]] result<void> add_asking_tools(server& to);
[[nodiscard]] result<void> add_stateful_tools(server& to);
[[nodiscard]] result<void> add_prompts(server& to);
[[nodiscard]] result<void> add_skills(server& to);

/// A grey picture of one pixel, as PNG.
[[nodiscard]] std::string picture();
/// One sample of silence, as WAV.
[[nodiscard]] std::string silence();

/// A tool without arguments, as most of them are here.
[[nodiscard]] hondana::tool plain_tool(std::string name, std::string description);

/// Waits, unless the call is cancelled first: then false.
[[nodiscard]] bool wait(const hondana::call& during, std::chrono::milliseconds how_long);

}  // namespace everything
