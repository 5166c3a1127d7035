// The fields of a transcription form, and what they ask for.
//
// Holds: form. Next file: upload.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <hearonce/transcription.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace hearonce::http {

// Longest `model`: it stands in logs and answers.
inline constexpr std::size_t model_bytes_max = 256;

// Collects fields in the order in which they come, from the parts of a form or from a query string; the names are the same.
// Pure: counting bytes is the caller's.
class form {
public:
    explicit form(task asked) : task_(asked) {}

    // `name` is valid UTF-8 without control characters, else errc::invalid_parameter. The value may hold any bytes.
    result<void> add(std::string name, std::string value);

    // The request. `model` is left empty when the caller named none.
    //   errc::duplicate_parameter  a field that takes one value was sent twice, an empty value counted
    //   errc::unsupported_value    response_format is not known, or not for this task
    //   errc::invalid_parameter    temperature is not a number in 0..1, stream is not true/false/1/0, a granularity is not
    //                              word/segment, or a text for the engine is not valid UTF-8; `param` names the field
    // Empty values are left out: they are neither forwarded nor part of the key. A field nobody knows is kept as it is.
    result<transcription_request> finish() &&;

private:
    result<void> check_repeats() const;

    task task_;
    std::vector<form_field> fields_;
};

// Whether a field of this name may come more than once: its name ends with "[]", or it is one of OpenAI's lists, which some
// clients send without the brackets.
bool takes_many_values(std::string_view name) noexcept;

}  // namespace hearonce::http
