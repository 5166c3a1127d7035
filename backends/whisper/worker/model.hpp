// A model in memory: checked before whisper.cpp sees it, shared by every job, read-only.
//
// Holds: model, load_model(). Next file: recognise.hpp.
#pragma once

#include <hearonce/error.hpp>

#include <memory>
#include <string>

struct whisper_context;

namespace hearonce::whisper {

struct free_context {
    void operator()(whisper_context* context) const noexcept;
};

struct model {
    std::unique_ptr<whisper_context, free_context> context;
    bool multilingual = false;
};

// Loads ggml's processor code and the model. The error's message says what is wrong with the file in words for the
// operator; a file that whisper.cpp would take for an empty test model is refused. Call once, before any thread.
result<model> load_model(const std::string& path);

// Version of libwhisper.
std::string library_version();

}  // namespace hearonce::whisper
