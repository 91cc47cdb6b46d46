/// Tools that send messages during a call: progress, log messages, and a slow answer.
#include "everything.hpp"

namespace everything {
namespace {

using hondana::log_level;
using hondana::tool_call;
using hondana::tool_result;
using std::chrono::milliseconds;

constexpr milliseconds step_duration{120};

tool_result cancelled() { return hondana::error_result("Cancelled"); }

void report_percent(const tool_call& call, double percent) {
  if (call.report_progress)
    call.report_progress({percent, 100, "Completed step " + std::to_string(static_cast<int>(percent)) + " of 100"});
}

tool_result with_progress(const tool_call& call) {
  for (const double percent : {0.0, 50.0, 100.0}) {
    report_percent(call, percent);
    if (!wait(call, step_duration)) return cancelled();
  }
  return hondana::text_result("All steps completed");
}

tool_result with_logging(const tool_call& call) {
  for (const auto* text : {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    call.log(log_level::info, text, "everything");
    if (!wait(call, milliseconds(50))) return cancelled();
  }
  return hondana::text_result("Tool with logging executed successfully");
}

}  // namespace

result<void> add_progress_tools(server& target) {
  auto added = target.add_tool(simple_tool("test_tool_with_progress", "Reports progress three times"), with_progress);
  if (!added) return added;
  added = target.add_tool(simple_tool("test_tool_with_logging", "Sends three log messages"), with_logging);
  if (!added) return added;
  added = target.add_tool(simple_tool("test_logging_tool", "Sends one log message"), [](const tool_call& call) {
    call.log(log_level::info, "Diagnostic message", "everything");
    return hondana::text_result("Logging evaluated");
  });
  if (!added) return added;
  added =
      target.add_tool(simple_tool("test_streaming_elicitation", "Reports progress, then answers"), [](const tool_call& call) {
        report_percent(call, 50);
        return hondana::text_result("Streaming complete");
      });
  if (!added) return added;
  return target.add_tool(simple_tool("test_reconnection", "Takes a second; the connection may be lost meanwhile"),
                         [](const tool_call& call) {
                           call.close_stream(milliseconds(500));
                           if (!wait(call, milliseconds(1000))) return cancelled();
                           return hondana::text_result("Reconnection test completed successfully.");
                         });
}

}  // namespace everything
