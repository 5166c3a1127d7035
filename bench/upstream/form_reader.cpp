// Next file: openai_rules.cpp.
#include <bench/upstream/form_reader.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::upstream {

void form_reader::begin_part() {
    const auto& head = parser_.head();
    if (head.file_name) {
        file_ = {head.name, *head.file_name, head.content_type, 0, {}};
        hash_.emplace();
    } else {
        field_ = {head.name, {}};
    }
}

void form_reader::end_part() {
    if (hash_) {
        file_.sha256 = hash_->finish();
        hash_.reset();
        files_.push_back(std::move(file_));
    } else {
        fields_.push_back(std::move(field_));
    }
}

result<void> form_reader::feed(std::span<const std::byte> bytes) {
    for (;;) {
        const auto event = parser_.next(bytes);
        if (!event) return event.error();
        switch (*event) {
            case http::multipart_parser::event::need_more: return {};
            case http::multipart_parser::event::end: break;
            case http::multipart_parser::event::part: begin_part(); break;
            case http::multipart_parser::event::part_end: end_part(); break;
            case http::multipart_parser::event::data: {
                const auto data = parser_.data();
                if (hash_) {
                    hash_->update(data);
                    file_.bytes += data.size();
                    break;
                }
                fields_bytes_ += data.size();
                if (fields_bytes_ > fields_bytes_max) return error(errc::invalid_multipart, "The fields are too large.");
                field_.value.append(reinterpret_cast<const char*>(data.data()), data.size());
            }
        }
    }
}

const std::string* form_reader::field(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(fields_, [name](const form_field& one) { return one.name == name; });
    return found == fields_.end() ? nullptr : &found->value;
}

}  // namespace hearonce::upstream
