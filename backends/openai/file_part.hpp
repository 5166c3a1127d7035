// What the upstream is told the recording is called: a name and type that go with its bytes. Pure.
//
// Holds: file_part, file_part_of(), form_quoted(). Next file: request_form.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <string>
#include <string_view>

namespace hearonce::openai {

struct file_part {
    std::string name;  // Not yet quoted.
    std::string type;
};

// Upstreams judge a file by its name's extension: the same bytes named `blob`, `note.oga` or nothing are refused. So the
// extension and the type are made from the container that was recognised, and of the caller's name only its last component's
// base is kept. Bytes that were not recognised go under the caller's own name and type, without folders.
file_part file_part_of(const recording& audio);

// For `name=""` of a part: quotes, line ends and backslashes percent-encoded, as browsers do (WHATWG HTML, multipart/form-data
// encoding), backslashes because some parsers take them for an escape.
std::string form_quoted(std::string_view text);

}  // namespace hearonce::openai
