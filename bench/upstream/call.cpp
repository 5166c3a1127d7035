// Next file: openai_rules.cpp.
#include <bench/upstream/call.hpp>

#include <bench/upstream/gemini_answer.hpp>
#include <bench/upstream/keys.hpp>
#include <bench/upstream/openai_answer.hpp>
#include <bench/upstream/openai_rules.hpp>

#include <http/part_head.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::upstream {

call::call(const http::request_head& head, const route& to, const settings& how, result<upstream::fault> given)
    : head_(head), to_(to), how_(how) {
    if (given) {
        fault_ = *std::move(given);
    } else {
        misspelt_ = given.error().message();
    }
    if (!to_.is_form()) {
        body_.reserve(static_cast<std::size_t>(std::min(head.content_length.value_or(0), gemini_body_bytes_max)));
        return;
    }
    const auto boundary = http::boundary_of(head.find("content-type").value_or(""));
    if (boundary) {
        form_.emplace(*boundary);
    } else {
        form_problem_ = "The body must be multipart/form-data.";
    }
}

void call::feed(std::span<const std::byte> bytes) {
    bytes_ += bytes.size();
    if (to_.gemini && bytes_ <= gemini_body_bytes_max) body_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!form_ || !form_problem_.empty() || bytes_ > openai_body_bytes_max) return;
    const auto fed = form_->feed(bytes);
    if (!fed) form_problem_ = "Could not parse multipart form";
    look_for_prompt();
}

void call::finish() {
    if (to_.gemini && bytes_ <= gemini_body_bytes_max) {
        checked_ = check_gemini(body_, to_, how_.any_model);
        std::string().swap(body_);
        take_prompt(checked_.asked.prompt);
    }
    if (!form_ || !form_problem_.empty()) return;
    const auto whole = form_->finish();
    if (!whole) form_problem_ = "Could not parse multipart form";
}

void call::look_for_prompt() {
    const auto& fields = form_->fields();
    for (; fields_looked_at_ < fields.size(); ++fields_looked_at_) {
        if (fields[fields_looked_at_].name != "prompt") continue;
        take_prompt(fields[fields_looked_at_].value);
    }
}

void call::take_prompt(std::string_view prompt) {
    const auto spec = fault_in_prompt(prompt);
    if (!spec) return;
    auto read = parse_fault(*spec);
    misspelt_ = read ? std::string() : std::string(read.error().message());
    if (read) fault_ = *std::move(read);
}

std::vector<form_field> call::fields() const {
    if (form_) return form_->fields();
    if (!to_.gemini) return {};
    const auto& asked = checked_.asked;
    std::vector<form_field> all = {{"model", asked.model}, {"text", asked.prompt}};
    if (!asked.config.empty()) all.push_back({"generationConfig", asked.config});
    return all;
}

std::vector<received_file> call::files() const {
    if (form_) return form_->files();
    return checked_.asked.file ? std::vector{*checked_.asked.file} : std::vector<received_file>();
}

std::optional<sha256_digest> call::recording() const {
    if (checked_.asked.file) return checked_.asked.file->sha256;
    if (!form_ || !form_problem_.empty()) return std::nullopt;
    for (const auto& one : form_->files()) {
        if (one.field == "file") return one.sha256;
    }
    return std::nullopt;
}

answer call::answer_form() const {
    if (!misspelt_.empty()) return refused_fault(misspelt_, false);
    if (fault_.for_gemini_alone()) return refused_fault("This fault is Gemini's alone.", false);
    if (auto refused = refused_key(head_, to_, how_)) return *std::move(refused);
    if (bytes_ > openai_body_bytes_max) return openai_too_large(bytes_);
    if (!form_problem_.empty()) return openai_refusal(400, form_problem_);
    auto checked = check_openai(*form_, to_, how_.any_model);
    if (checked.refusal) return *std::move(checked.refusal);
    const auto& asked = checked.asked;
    const bool note = how_.tell_language && !asked.language.empty();
    const auto what = fault_.answer == fault::instead::empty_text
                          ? hear_nothing()
                          : hear(asked.file.sha256, note ? "[" + asked.language + "]" : std::string());
    return answer_openai(asked, what, how_.done_marker);
}

answer call::answer_body() const {
    if (!misspelt_.empty()) return refused_fault(misspelt_, true);
    if (auto refused = refused_key(head_, to_, how_)) return *std::move(refused);
    if (bytes_ > gemini_body_bytes_max)
        return gemini_refusal(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 104857600 bytes.");
    if (checked_.refusal) return *checked_.refusal;
    const auto& asked = checked_.asked;
    if (!asked.file) return gemini_refusal(400, "INVALID_ARGUMENT", "Upstream double: there is no recording in it.");
    const auto what = fault_.answer == fault::instead::empty_text ? hear_nothing() : hear(asked.file->sha256);
    return answer_gemini(asked, to_, what, fault_);
}

answer call::answer() const {
    return to_.gemini ? answer_body() : answer_form();
}

}  // namespace hearonce::upstream
