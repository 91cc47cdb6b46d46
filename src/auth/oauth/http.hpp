/// How authorization servers are asked: by a function, which tests replace.
#pragma once

#include <chrono>

#include "transport/http_client/small_call.hpp"

namespace hondana::oauth {

using transport::http_client::small_answer;
using transport::http_client::small_caller;
using transport::http_client::small_request;

struct caller_of_http {
  small_caller call{};
  std::chrono::milliseconds time{10'000};  ///< For each request.
};

}  // namespace hondana::oauth
