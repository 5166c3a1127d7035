// The counts as JSON. Next file: session.cpp.
#include <bench/upstream/ledger.hpp>

#include <observe/json_text.hpp>

#include <algorithm>

namespace hearonce::upstream {

namespace {

using observe::append_integer;
using observe::append_json_string;

// Names and values of one object or array, with commas where they belong.
class json_writer {
public:
    explicit json_writer(std::string& out) : out_(out) {}
    void name(std::string_view text) {
        comma();
        append_json_string(out_, text);
        out_ += ':';
    }
    void number(std::string_view text, std::uint64_t value) {
        name(text);
        append_integer(out_, static_cast<std::int64_t>(value));
    }
    void text(std::string_view named, std::string_view value) {
        name(named);
        append_json_string(out_, value);
    }
    void open(char bracket) { out_ += bracket; }
    void item() { comma(); }
    void close(char bracket) { out_ += bracket; }

private:
    void comma() {
        if (!out_.empty() && out_.back() != '{' && out_.back() != '[') out_ += ',';
    }
    std::string& out_;
};

void write(json_writer& to, const left_call& one) {
    to.item();
    to.open('{');
    to.number("id", one.id);
    to.number("at_ms", static_cast<std::uint64_t>(one.at_ms));
    to.number("after_ms", static_cast<std::uint64_t>(one.after_ms));
    to.text("during", one.during);
    to.close('}');
}

// A pair of [name, value]: the order and repeated names are what a reader wants to see.
template <class Pairs>
void write_pairs(json_writer& to, std::string& out, std::string_view name, const Pairs& pairs) {
    to.name(name);
    to.open('[');
    for (const auto& one : pairs) {
        to.item();
        to.open('[');
        append_json_string(out, one.name);
        out += ',';
        append_json_string(out, one.value);
        to.close(']');
    }
    to.close(']');
}

void write(json_writer& to, std::string& out, const seen_request& one) {
    to.item();
    to.open('{');
    to.number("id", one.id);
    to.number("connection", one.connection);
    to.number("at_ms", static_cast<std::uint64_t>(one.at_ms));
    to.text("method", one.method);
    to.text("path", one.path);
    to.text("query", one.query);
    to.number("status", static_cast<std::uint64_t>(one.status));
    write_pairs(to, out, "headers", one.headers);
    write_pairs(to, out, "fields", one.fields);
    to.name("files");
    to.open('[');
    for (const auto& file : one.files) {
        to.item();
        to.open('{');
        to.text("field", file.field);
        to.text("name", file.name);
        to.text("type", file.type);
        to.number("bytes", file.bytes);
        to.text("sha256", hex_of(file.sha256));
        to.close('}');
    }
    to.close(']');
    to.close('}');
}

}  // namespace

std::string json_of(const counts& all) {
    std::string out;
    json_writer to(out);
    to.open('{');
    to.number("calls", all.calls);
    to.name("by_sha256");
    to.open('{');
    std::vector<std::pair<std::string, std::uint64_t>> sorted;
    for (const auto& [digest, calls] : all.by_sha256) sorted.emplace_back(hex_of(digest), calls);
    std::ranges::sort(sorted);
    for (const auto& [hex, calls] : sorted) to.number(hex, calls);
    to.close('}');
    to.number("digests_left_out", all.digests_left_out);
    to.number("in_flight", all.in_flight);
    to.number("in_flight_max", all.in_flight_max);
    to.number("other_requests", all.other_requests);
    to.name("connections");
    to.open('{');
    to.number("open", all.connections_open);
    to.number("accepted", all.connections_accepted);
    to.close('}');
    to.number("received_bytes", all.received_bytes);
    to.name("by_status");
    to.open('{');
    for (const auto& [status, answers] : all.by_status) to.number(std::to_string(status), answers);
    to.close('}');
    to.number("aborted_by_peer", all.aborted_by_peer);
    to.name("left");
    to.open('[');
    for (const auto& one : all.left) write(to, one);
    to.close(']');
    to.name("last");
    to.open('[');
    for (const auto& one : all.last) write(to, out, one);
    to.close(']');
    to.close('}');
    return out;
}

}  // namespace hearonce::upstream
