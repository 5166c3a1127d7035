// GET /v1/models and /v1/models/{id}: what can be asked for, in OpenAI's shape.
//
// Holds: listed_backend, models_answer(), model_answer(). Pure. Next file: health_answer.hpp.
#pragma once

#include <hearonce/error.hpp>
#include <http/exchange.hpp>

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::http {

// A backend as the answers about backends see it; made from hearonce::backend by its owner.
struct listed_backend {
    std::string name;
    std::vector<std::string> models;  // Names and globs of fnmatch(3) form.
    std::string default_model;
    bool ready = false;
    std::string reason;  // Why it is not ready; empty when it is.
    // "YYYY-MM-DD" of the day a model ends, empty when none is known. May be empty itself: then none is.
    std::function<std::string(const std::string& model)> shutdown_date{};
};

// The list: every model a backend names without a wildcard and every default model, each once, in the order of the backends;
// `owned_by` is the backend's name. `created`: one time for all of them (when the gateway started).
response models_answer(std::span<const listed_backend> backends, std::chrono::system_clock::time_point created);

// One of them, or a name that a backend's glob takes. `id` is percent-decoded. Else model_not_found, `model` named.
response model_answer(std::span<const listed_backend> backends, std::string_view id, std::chrono::system_clock::time_point created);

}  // namespace hearonce::http
