// Takes the text of a request apart. The only place of the server that knows Beast.
//
// Holds: request_parser. Next file: connection.cpp, which feeds it.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace hearonce::server {

class request_parser {
public:
    request_parser();
    ~request_parser();

    // Begins a new request with `bytes`, a complete head as head_scan found it. Fills method, path, query, version and headers,
    // then checks the framing. The error is invalid_http.
    result<void> parse_head(std::string_view bytes, http::request_head& head);

    // One step through a chunked body. `consumed` bytes of the input are done with; `data` views into them.
    struct step {
        enum class kind { more, data, end } is;  // more: the next bytes must be appended to what was not consumed.
        std::size_t consumed;
        std::string_view data;
    };
    result<step> parse_chunked(std::string_view bytes);

private:
    class parser;
    std::unique_ptr<parser> parser_;
};

}  // namespace hearonce::server
