/// A file that records the wire as the transcripts of the tests do.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/client_types.hpp>
#include <hondana/error.hpp>

namespace hondana::cli {

/// One message a line, `-> ` before those to the server and `<- ` before those from it. Threads: any.
class trace_file {
 public:
  /// Makes the file anew, with mode 0600. Errors: invalid_argument when it cannot be written.
  [[nodiscard]] static result<std::shared_ptr<trace_file>> open(const std::string& path);
  ~trace_file();
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;

  void write(message_direction way, std::string_view message);

 private:
  explicit trace_file(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace hondana::cli
