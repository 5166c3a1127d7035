// Next file: idle_connections.cpp.
#include <hearonce/ascii.hpp>
#include <net/request_head.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hearonce::net {
namespace {

// RFC 9110 section 5.6.2.
bool token_character(char c) {
    return ascii::is_letter_or_digit(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, token_character);
}

// Field values: visible characters, blanks, tabs and bytes above ASCII (RFC 9110 section 5.5).
bool value(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f); });
}

bool target(std::string_view text) {
    return text.starts_with('/') && std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7f; });
}

// What frames the message is written here alone.
bool own_header(std::string_view name) {
    constexpr std::array<std::string_view, 4> own{"Host", "Content-Length", "Transfer-Encoding", "Connection"};
    return std::ranges::any_of(own, [name](std::string_view one) { return ascii::equal_in_any_case(one, name); });
}

void add(std::string& head, std::string_view name, std::string_view text) {
    head.append(name).append(": ").append(text).append("\r\n");
}

request_head refused(std::string why) {
    return {{}, std::move(why)};
}

}  // namespace

request_head head_of(const call_request& request) {
    if (!token(request.method)) return refused("the method is no word");
    if (!target(request.url.target)) return refused("the target holds a blank or a control character");
    const std::string host = request.url.authority();
    if (host.empty() || !target("/" + host)) return refused("the host holds a blank or a control character");
    std::string head;
    head.reserve(512);
    head.append(request.method).append(" ").append(request.url.target).append(" HTTP/1.1\r\n");
    add(head, "Host", host);
    bool named = false;
    for (const auto& [name, text] : request.headers) {
        if (!token(name)) return refused("a header's name is no word");
        if (own_header(name)) return refused("the header " + name + " is not the caller's to set");
        if (!value(text)) return refused("the header " + name + " holds a control character");
        named = named || ascii::equal_in_any_case(name, "User-Agent");
        add(head, name, text);
    }
    if (!named) add(head, "User-Agent", "hearonce/" HEARONCE_VERSION);
    if (!request.keep_alive) add(head, "Connection", "close");
    // A method that has a meaning for a body says so even when it is empty (RFC 9110 section 8.6).
    const bool expected = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (request.body || expected) add(head, "Content-Length", std::to_string(request.body ? request.body->size_bytes() : 0));
    head.append("\r\n");
    return {std::move(head), {}};
}

}  // namespace hearonce::net
