// One line of the log as it grows, in either format.
//
// Holds: log_line. Used by log.cpp alone. Next file: log_sink.hpp.
#pragma once

#include <observe/json_text.hpp>
#include <observe/log.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace hearonce::observe {

// One line as it grows. Each thread has one string for all its lines, so saying something allocates nothing.
class log_line {
public:
    explicit log_line(bool json) : json_(json), out_(room()) { out_.clear(); }

    std::string_view text() const noexcept { return out_; }

    void message(std::string_view words) {
        if (json_) out_ += R"("message":")";
        append_printable(out_, words, log_value_bytes_max);
        if (json_) out_ += '"';
    }

    void add(const field& one) {
        name(one.name);
        if (const auto* text = std::get_if<std::string_view>(&one.value)) {
            value(*text);
        } else if (const auto* number = std::get_if<std::int64_t>(&one.value)) {
            append_integer(out_, *number);
        } else if (const auto* real = std::get_if<double>(&one.value)) {
            append_json_number(out_, *real);
        } else {
            out_ += std::get<bool>(one.value) ? "true" : "false";
        }
    }

    // Left out when empty.
    void add_known(std::string_view its_name, std::string_view text) {
        if (!text.empty()) add({its_name, text});
    }
    void add_milliseconds(std::string_view its_name, std::chrono::microseconds time) {
        add({its_name, static_cast<double>(time.count()) / 1000});
    }

private:
    static std::string& room() {
        thread_local std::string kept;
        return kept;
    }

    void name(std::string_view its_name) {
        out_ += json_ ? ",\"" : " ";
        out_ += its_name;
        out_ += json_ ? "\":" : "=";
    }

    void value(std::string_view text) {
        const bool quoted = json_ || text.empty() || text.find_first_of(" =\"\\") != std::string_view::npos;
        if (quoted) out_ += '"';
        append_printable(out_, text, log_value_bytes_max);
        if (quoted) out_ += '"';
    }

    bool json_;
    std::string& out_;
};

}  // namespace hearonce::observe
