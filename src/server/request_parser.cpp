// Beast's request parser, straight into our own values: no field container, no copy of the body.
//
// Next file: connection.cpp.
#include <server/request_parser.hpp>

#include <server/framing.hpp>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace hearonce::server {

namespace {

namespace beast = boost::beast;
namespace net = boost::asio;

class beast_parser final : public beast::http::basic_parser<true> {
public:
    explicit beast_parser(http::request_head& head) : head_(&head) { body_limit(boost::none); }

    std::string_view target() const noexcept { return target_; }
    std::string_view data() const noexcept { return data_; }
    void forget_data() noexcept { data_ = {}; }
    bool in_chunk() const noexcept { return chunk_left_ > 0; }

private:
    void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target, int version,
                         beast::error_code&) override {
        head_->method.assign(method.data(), method.size());
        head_->version = static_cast<unsigned>(version);
        target_ = std::string_view(target.data(), target.size());
    }
    void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, beast::error_code&) override {
        if (head_done_) return;  // A trailer: nobody has asked for it, and it must not pass for a header.
        head_->headers.push_back({std::string(name.data(), name.size()), std::string(value.data(), value.size())});
    }
    void on_header_impl(beast::error_code&) override { head_done_ = true; }
    void on_chunk_header_impl(std::uint64_t size, beast::string_view, beast::error_code&) override { chunk_left_ = size; }
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, beast::error_code&) override {
        data_ = std::string_view(body.data(), body.size());
        chunk_left_ -= body.size();
        return body.size();
    }
    void on_response_impl(int, beast::string_view, int, beast::error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
    std::size_t on_body_impl(beast::string_view body, beast::error_code&) override { return body.size(); }
    void on_finish_impl(beast::error_code&) override {}

    http::request_head* head_;
    std::string_view target_;
    std::string_view data_;
    std::uint64_t chunk_left_ = 0;
    bool head_done_ = false;
};

}  // namespace

class request_parser::parser {
public:
    std::optional<beast_parser> beast;
};

request_parser::request_parser() : parser_(std::make_unique<parser>()) {}
request_parser::~request_parser() = default;

result<void> request_parser::parse_head(std::string_view bytes, http::request_head& head) {
    auto& beast = parser_->beast.emplace(head);
    // The scan has bounded the head already; Beast's own limit must not be the smaller one.
    beast.header_limit(static_cast<std::uint32_t>(bytes.size() + 1));
    beast::error_code failed;
    auto consumed = beast.put(net::const_buffer(bytes.data(), bytes.size()), failed);
    if (failed || !beast.is_header_done() || consumed != bytes.size()) return error(errc::invalid_http);
    if (!read_target(beast.target(), head)) return error(errc::invalid_http, "The request target is not valid.");
    if (auto wrong = check_framing(head)) return *std::move(wrong);
    return {};
}

result<request_parser::step> request_parser::parse_chunked(std::string_view bytes) {
    auto& beast = *parser_->beast;
    assert(!beast.is_done());
    // No framing is shorter than "0\r\n\r\n", and Beast asserts that it is not asked to look at less of it.
    constexpr std::size_t shortest = 5;
    std::size_t consumed = 0;
    for (;;) {
        auto rest = bytes.substr(consumed);
        if (rest.empty() || (!beast.in_chunk() && rest.size() < shortest)) return step{step::kind::more, consumed, {}};
        beast.forget_data();
        beast::error_code failed;
        consumed += beast.put(net::const_buffer(rest.data(), rest.size()), failed);
        if (failed == beast::http::error::need_more) return step{step::kind::more, consumed, {}};
        if (failed) return error(errc::invalid_http, "The chunked framing of the body is broken.");
        if (beast.is_done()) return step{step::kind::end, consumed, {}};
        if (!beast.data().empty()) return step{step::kind::data, consumed, beast.data()};
    }
}

}  // namespace hearonce::server
