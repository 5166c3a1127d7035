// The list of models and one model, as JSON.
#include <http/error_response.hpp>
#include <http/models_answer.hpp>
#include <observe/json_text.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <unordered_set>

namespace hearonce::http {
namespace {

bool is_glob(std::string_view name) noexcept {
    return name.find_first_of("*?[") != std::string_view::npos;
}

void append_model(std::string& out, const std::string& id, const listed_backend& owner, std::int64_t created_seconds) {
    out += R"({"id":)";
    observe::append_json_string(out, id);
    out += R"(,"object":"model","created":)";
    observe::append_integer(out, created_seconds);
    out += R"(,"owned_by":)";
    observe::append_json_string(out, owner.name);
    const std::string ends = owner.shutdown_date ? owner.shutdown_date(id) : std::string();
    out += R"(,"shutdown_date":)";
    if (ends.empty()) {
        out += "null}";
    } else {
        observe::append_json_string(out, ends);
        out += '}';
    }
}

std::int64_t seconds_of(std::chrono::system_clock::time_point time) noexcept {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

// What the list shows of one backend.
template <class Visit>
void each_name(const listed_backend& one, Visit visit) {
    if (!one.default_model.empty()) visit(one.default_model);
    for (const std::string& name : one.models) {
        if (!name.empty() && !is_glob(name)) visit(name);
    }
}

bool takes(const listed_backend& one, const std::string& id) {
    return id == one.default_model || std::any_of(one.models.begin(), one.models.end(), [&](const std::string& glob) {
               return glob == id || ::fnmatch(glob.c_str(), id.c_str(), 0) == 0;
           });
}

}  // namespace

response models_answer(std::span<const listed_backend> backends, std::chrono::system_clock::time_point created) {
    std::string body = R"({"object":"list","data":[)";
    std::unordered_set<std::string_view> listed;
    for (const listed_backend& one : backends) {
        each_name(one, [&](const std::string& id) {
            if (!listed.insert(id).second) return;
            if (listed.size() > 1) body += ',';
            append_model(body, id, one, seconds_of(created));
        });
    }
    body += "]}";
    return json_answer(200, std::move(body));
}

response model_answer(std::span<const listed_backend> backends, std::string_view id, std::chrono::system_clock::time_point created) {
    const std::string name(id);
    const auto owner = std::find_if(backends.begin(), backends.end(), [&](const listed_backend& one) { return takes(one, name); });
    if (name.empty() || name.find('\0') != std::string::npos || owner == backends.end()) {
        return error_response(error(errc::model_not_found, "The model '" + name + "' does not exist or no backend takes it."));
    }
    std::string body;
    append_model(body, name, *owner, seconds_of(created));
    return json_answer(200, std::move(body));
}

}  // namespace hearonce::http
