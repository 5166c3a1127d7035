// Google's Gemini API as a backend: its transcription model, and its general models by prompt.
//
// Holds: gemini_settings, create_gemini_backend(). Next file: gemini_backend.cpp.
#pragma once

#include <backends/whisper/transcode.hpp>
#include <hearonce/backend.hpp>
#include <net/tls.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::gemini {

inline constexpr std::string_view public_base_url = "https://generativelanguage.googleapis.com/v1beta";

// One `[backends.NAME]` of kind `gemini`.
struct gemini_settings {
    std::string name = "gemini";
    std::string base_url{public_base_url};           // http or https, without a query; /v1beta where it ends in no version.
    secret credential;                               // The operator's key; empty: no key is sent.
    bool callers_keys = false;                       // Callers bring their own, so that having no key is no fault.
    std::vector<std::string> models = {"gemini-*"};  // Names it takes (globs).
    std::string default_model = "gemini-3.5-transcribe";
    std::map<std::string, std::string> model_alias;  // Public name to the upstream's.
    unsigned max_in_flight = 256;
    net::tls_context tls;  // Needed for https.
    time_rule deadline;
    // Decodes what general models do not take; null: such recordings are refused.
    std::shared_ptr<whisper::transcoder> transcoder;
    // Called from any thread with one line for the operator; may be empty. Never holds a key.
    std::function<void(const std::string&)> log;
};

// Knows no loop: every call runs on its caller's, over connections that loop keeps.
std::shared_ptr<backend> create_gemini_backend(gemini_settings settings);

}  // namespace hearonce::gemini
