/// A server that answers as OpenAI's, Ollama's and llama.cpp's do, with vectors of latent semantic analysis; and, where a test
/// wants it, as none should.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lsa/model.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace lsa {

/// How it answers. By default as it should.
struct behaviour {
  std::string model = "lsa";           ///< Another one is answered with 404.
  std::string token{};                 ///< Not empty: must come as a bearer token.
  bool is_dead = false;                ///< Connections are reset when a request has come.
  std::chrono::milliseconds delay{0};  ///< Before each answer.
  int status = 200;                    ///< Another one is answered instead, with an error object.
  std::string message = "failed";      ///< Of that.
  bool is_plain = false;               ///< The error is plain text.
  std::string retry_after{};           ///< Not empty: the field of that name, with the error.
  bool is_base64 = false;              ///< Vectors are, whatever was asked for.
  bool is_out_of_order = false;        ///< The last one first.
  bool has_indexes = true;             ///< `index` stands with each vector.
  bool is_short = false;               ///< The last vector is missing.
  bool has_no_number = false;          ///< The first number of the last vector is NaN.
  bool is_all_zero = false;
  std::string refuses{};              ///< Not empty: a request with a text that has this is refused, whatever else is in it,
  int refuses_with = 400;             ///< with this status.
  std::size_t most_texts = 2048;      ///< More at once are refused with 413.
  std::size_t most_bytes = 1u << 20;  ///< A longer text is refused with 400.
  /// After so many requests the vectors are of half the dimension.
  std::size_t requests_until_other_dimension = SIZE_MAX;
};

/// `POST /v1/embeddings` and `GET /v1/models`. Threads: any.
class server {
 public:
  explicit server(std::shared_ptr<const lsa::model> of, behaviour how = {});
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Listens on a free port of 127.0.0.1.
  void start();
  /// All connections end, and answers that wait are not given.
  void stop();
  [[nodiscard]] std::uint16_t port() const;
  /// `http://127.0.0.1:PORT/v1`.
  [[nodiscard]] std::string url() const;
  void behave(const behaviour& how);
  /// Texts of the requests for vectors that have been answered with some.
  [[nodiscard]] std::size_t texts() const;
  /// Requests for vectors.
  [[nodiscard]] std::size_t requests() const;
  /// The inputs of the last of these.
  [[nodiscard]] std::vector<std::string> last() const;

 private:
  bool answer(const hondana_test::heard_request& to, hondana_test::scripted_connection& by);
  bool answer_vectors(const hondana_test::heard_request& to, const behaviour& how, hondana_test::scripted_connection& by);

  const std::shared_ptr<const lsa::model> model_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  behaviour how_;
  bool is_stopping_ = false;
  std::size_t requests_ = 0;
  std::size_t texts_ = 0;
  std::vector<std::string> last_;
  std::unique_ptr<hondana_test::scripted_server> listening_;
};

}  // namespace lsa
