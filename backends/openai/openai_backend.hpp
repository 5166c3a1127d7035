// Any server that speaks OpenAI's audio API, as a backend: OpenAI, Groq, speaches, vLLM, LocalAI, whisper.cpp's server.
//
// Holds: openai_settings, create_openai_backend(). Next file: upstream_call.hpp.
#pragma once

#include <hearonce/backend.hpp>
#include <net/tls.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::openai {

inline constexpr std::string_view public_base_url = "https://api.openai.com/v1";

// One `[backends.NAME]` of kind `openai`.
struct openai_settings {
    std::string name = "openai";
    std::string base_url{public_base_url};  // http or https; a query stays behind the path.
    secret credential;                      // The operator's key; empty: no key is sent.
    bool callers_keys = false;              // Callers bring their own, so that having no key is no fault.
    // Names it takes (globs). At OpenAI's own address the published names they match are listed, too.
    std::vector<std::string> models = {"gpt-transcribe*", "gpt-4o*-transcribe*", "whisper-1"};
    std::string default_model = "gpt-transcribe";
    std::map<std::string, std::string> model_alias;  // Public name to the upstream's.
    unsigned max_in_flight = 256;
    net::tls_context tls;  // Needed for https.
    time_rule deadline;
    // Called from any thread with one line for the operator; may be empty. Never holds a key.
    std::function<void(const std::string&)> log;
};

// Knows no loop: every call runs on its caller's, over connections that loop keeps.
std::shared_ptr<backend> create_openai_backend(openai_settings settings);

}  // namespace hearonce::openai
