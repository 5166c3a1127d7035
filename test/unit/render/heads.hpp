// Request heads for tests, as the server would hand them over.
#pragma once

#include <http/exchange.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace hearonce::http {

inline request_head head_with(std::initializer_list<header> headers) {
    request_head head;
    head.method = "POST";
    head.path = "/v1/audio/transcriptions";
    head.headers = headers;
    head.loopback = true;
    head.peer = boost::asio::ip::make_address("127.0.0.1");
    return head;
}

// The one value of a header; empty when it is absent, all values joined by '|' when it is there several times.
inline std::string header_of(const response& answer, std::string_view name) {
    std::string all;
    for (const header& one : answer.headers) {
        if (one.name == name) all += (all.empty() ? "" : "|") + one.value;
    }
    return all;
}

}  // namespace hearonce::http
