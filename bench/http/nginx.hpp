/// nginx, as the measure of answering over HTTP.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../process/scratch.hpp"
#include "contestant.hpp"

namespace http_bench {

/// One process, or nothing where there is no nginx: /return answers with a body of `plain` bytes, and GET /static/N with
/// `bodies[N]` from a cached file by sendfile.
[[nodiscard]] std::unique_ptr<contestant> start_nginx(const bench::scratch& in, const std::vector<std::string>& bodies,
                                                      std::size_t plain, int core);

/// The request for a path.
[[nodiscard]] std::string get(const std::string& path);

}  // namespace http_bench
