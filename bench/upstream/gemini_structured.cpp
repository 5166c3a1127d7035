// Answers in the shape that a schema asks for. Next file: sending.cpp.
#include <bench/upstream/gemini_answer.hpp>
#include <hearonce/ascii.hpp>

#include <observe/json_text.hpp>

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace hearonce::upstream {

namespace {

namespace json = boost::json;

// What a member is filled from: the whole, a segment or a word.
struct extent {
    std::string_view text;
    std::string_view speaker;
    std::int64_t begin_ms;
    std::int64_t end_ms;
};

class filler {
public:
    filler(const heard& what, std::string_view language) : what_(what), language_(language) {}

    void fill(const json::value& schema, std::string_view name, const extent& from) {
        const auto* of = schema.if_object();
        if (of == nullptr || deep_++ > depth_max) {
            out_ += "null";
            return;
        }
        if (const auto* choices = list(*of, "anyOf"); choices != nullptr && !choices->empty()) {
            fill(choices->front(), name, from);
        } else if (const auto* values = list(*of, "enum"); values != nullptr && !values->empty()) {
            out_ += json::serialize(values->front());
        } else {
            fill_type(*of, type_of(*of), name, from);
        }
        --deep_;
    }
    std::string take() { return std::move(out_); }

private:
    static constexpr int depth_max = 16;

    static const json::array* list(const json::object& of, std::string_view name) {
        const auto* found = of.if_contains(name);
        return found != nullptr ? found->if_array() : nullptr;
    }
    // In lower case; of several, the first that is not null.
    static std::string type_of(const json::object& of) {
        const auto* type = of.if_contains("type");
        std::string made;
        if (type != nullptr && type->is_string()) made = type->get_string();
        if (type != nullptr && type->is_array()) {
            for (const auto& one : type->get_array()) {
                if (made.empty() && one.is_string() && one.get_string() != "null") made = one.get_string();
            }
        }
        made = ascii::lowered(made);
        return made.empty() && of.contains("properties") ? "object" : made;
    }

    void fill_type(const json::object& of, const std::string& type, std::string_view name, const extent& from) {
        if (type == "object") return fill_object(of, from);
        if (type == "array") return fill_array(of, name, from);
        if (type == "boolean") {
            out_ += "false";
        } else if (type == "number" || type == "integer") {
            const auto ms = name.starts_with("start")                                 ? from.begin_ms
                            : name.starts_with("end") || name.starts_with("duration") ? from.end_ms
                                                                                      : 0;
            type == "number" ? observe::append_json_seconds(out_, static_cast<double>(ms) / 1000.0)
                             : observe::append_integer(out_, ms / 1000);
        } else {
            fill_string(name, from);
        }
    }
    void fill_string(std::string_view name, const extent& from) {
        if (name.starts_with("start")) return append_clock(from.begin_ms);
        if (name.starts_with("end")) return append_clock(from.end_ms);
        const auto text = name.starts_with("speaker") ? from.speaker : name.starts_with("language") ? language_ : from.text;
        observe::append_json_string(out_, text);
    }
    void append_clock(std::int64_t ms) {
        std::array<char, 40> text{};
        std::snprintf(text.data(), text.size(), "\"%02lld:%02lld.%03lld\"", static_cast<long long>(ms / 60'000),
                      static_cast<long long>(ms / 1000 % 60), static_cast<long long>(ms % 1000));
        out_ += text.data();
    }
    void fill_object(const json::object& of, const extent& from) {
        const auto* members = of.if_contains("properties");
        out_ += '{';
        if (members != nullptr && members->is_object()) {
            for (const auto& [name, schema] : members->get_object()) {
                if (out_.back() != '{') out_ += ',';
                observe::append_json_string(out_, name);
                out_ += ':';
                fill(schema, name, from);
            }
        }
        out_ += '}';
    }
    void fill_array(const json::object& of, std::string_view name, const extent& from) {
        const auto* items = of.if_contains("items");
        out_ += '[';
        const auto add = [&](const extent& one) {
            if (items == nullptr || one.begin_ms < from.begin_ms || one.end_ms > from.end_ms) return;
            if (out_.back() != '[') out_ += ',';
            fill(*items, {}, one);
        };
        if (name.starts_with("word")) {
            for (const auto& one : what_.words) add({one.word, from.speaker, one.begin_ms, one.end_ms});
        } else {
            for (const auto& one : what_.segments) add({one.text, one.speaker, one.begin_ms, one.end_ms});
        }
        out_ += ']';
    }

    const heard& what_;
    std::string_view language_;
    std::string out_;
    int deep_ = 0;
};

}  // namespace

std::string filled_in(std::string_view schema, const heard& what, std::string_view language) {
    boost::system::error_code failed;
    const auto parsed = json::parse(schema.empty() ? R"({"type":"object","properties":{"text":{"type":"string"}}})" : schema, failed);
    if (failed) return "null";
    filler made(what, language);
    made.fill(parsed, {}, {what.text, "A", 0, what.duration_ms});
    return made.take();
}

}  // namespace hearonce::upstream
