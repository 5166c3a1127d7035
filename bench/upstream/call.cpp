// Next file: openai_rules.cpp.
#include <bench/upstream/call.hpp>

#include <bench/upstream/openai_answer.hpp>
#include <bench/upstream/openai_rules.hpp>

#include <http/part_head.hpp>

#include <utility>

namespace hearonce::upstream {

call::call(const http::request_head& head, const route& to, const settings& how, result<upstream::fault> given)
    : head_(head), to_(to), how_(how) {
    if (given) {
        fault_ = *std::move(given);
    } else {
        misspelt_ = given.error().message();
    }
    if (!to_.is_form()) return;
    const auto boundary = http::boundary_of(head.find("content-type").value_or(""));
    if (boundary) {
        form_.emplace(*boundary);
    } else {
        form_problem_ = "The body must be multipart/form-data.";
    }
}

void call::feed(std::span<const std::byte> bytes) {
    bytes_ += bytes.size();
    if (!form_ || !form_problem_.empty() || bytes_ > openai_body_bytes_max) return;
    const auto fed = form_->feed(bytes);
    if (!fed) form_problem_ = "Could not parse multipart form";
    look_for_prompt();
}

void call::finish() {
    if (!form_ || !form_problem_.empty()) return;
    const auto whole = form_->finish();
    if (!whole) form_problem_ = "Could not parse multipart form";
}

void call::look_for_prompt() {
    const auto& fields = form_->fields();
    for (; fields_looked_at_ < fields.size(); ++fields_looked_at_) {
        if (fields[fields_looked_at_].name != "prompt") continue;
        const auto spec = fault_in_prompt(fields[fields_looked_at_].value);
        if (!spec) continue;
        auto read = parse_fault(*spec);
        misspelt_ = read ? std::string() : std::string(read.error().message());
        if (read) fault_ = *std::move(read);
    }
}

std::vector<form_field> call::fields() const {
    return form_ ? form_->fields() : std::vector<form_field>();
}

std::vector<received_file> call::files() const {
    return form_ ? form_->files() : std::vector<received_file>();
}

std::optional<sha256_digest> call::recording() const {
    if (!form_ || !form_problem_.empty()) return std::nullopt;
    for (const auto& one : form_->files()) {
        if (one.field == "file") return one.sha256;
    }
    return std::nullopt;
}

bool call::wrong_key() const {
    if (how_.key.empty()) return false;
    return head_.find("authorization") != "Bearer " + how_.key && head_.find("api-key") != how_.key;
}

answer call::answer_form() const {
    if (!misspelt_.empty()) return openai_refusal(400, misspelt_, "upstream_double");
    if (fault_.for_gemini_alone()) return openai_refusal(400, "This fault is Gemini's.", "upstream_double");
    if (wrong_key()) return openai_key_refusal();
    if (bytes_ > openai_body_bytes_max) return openai_too_large(bytes_);
    if (!form_problem_.empty()) return openai_refusal(400, form_problem_);
    auto checked = check_openai(*form_, to_, how_.any_model);
    if (checked.refusal) return *std::move(checked.refusal);
    const auto& asked = checked.asked;
    auto what = fault_.answer == fault::instead::empty_text ? hear_nothing() : hear(asked.file.sha256);
    if (how_.tell_language && !asked.language.empty()) what.text += " [" + asked.language + "]";
    return answer_openai(asked, what, how_.done_marker);
}

answer call::answer() const {
    return answer_form();
}

}  // namespace hearonce::upstream
