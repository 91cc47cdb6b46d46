/// The parts of a server with one example of each feature of the protocol.
#pragma once

#include <chrono>
#include <string>

#include <hondana/server.hpp>

namespace everything {

using hondana::result;
using hondana::server;

/// Each function adds its part to `target`, and returns the first error.
[[nodiscard]] result<void> add_resources(server& target);
[[nodiscard]] result<void> add_content_tools(server& target);
[[nodiscard]] result<void> add_progress_tools(server& target);
[[nodiscard]] result<void> add_form_tools(server& target);
[[nodiscard]] result<void> add_input_tools(server& target);
[[nodiscard]] result<void> add_stateful_tools(server& target);
[[nodiscard]] result<void> add_prompts(server& target);
[[nodiscard]] result<void> add_skills(server& target);

/// A grey picture of one pixel, as PNG.
[[nodiscard]] std::string picture();
/// One sample of silence, as WAV.
[[nodiscard]] std::string silence();

/// A tool without arguments, like most of the tools here.
[[nodiscard]] hondana::tool simple_tool(std::string name, std::string description);

/// Waits for `duration`. Returns false if the call is cancelled before that.
[[nodiscard]] bool wait(const hondana::request_context& context, std::chrono::milliseconds duration);

}  // namespace everything
