// The backend's face: names, rules, readiness, and one call for each piece of work. Next file: upstream_call.cpp.
#include <backends/openai/model_rules.hpp>
#include <backends/openai/openai_backend.hpp>
#include <backends/openai/upstream_call.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

namespace hearonce::openai {
namespace {

namespace asio = boost::asio;

bool is_openais_own(const std::optional<net::http_url>& base) {
    return base && (base->host == "api.openai.com" || base->host.ends_with(".api.openai.com"));
}

std::vector<std::string> listed_models(const openai_settings& settings, bool own_address) {
    std::vector<std::string> names = settings.models;
    if (!own_address) return names;
    for (const std::string_view published : published_models()) {
        const std::string name(published);
        const bool claimed = std::ranges::any_of(
            settings.models, [&name](const std::string& glob) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
        if (claimed && std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

// What calls need of the backend; they keep it alive.
struct station {
    explicit station(openai_settings given)
        : settings(std::move(given)),
          base(net::parse_url(settings.base_url)),
          own_address(is_openais_own(base)),
          models(listed_models(settings, own_address)) {}

    std::string upstream_name(const std::string& model) const {
        const auto found = settings.model_alias.find(model);
        return found == settings.model_alias.end() ? model : found->second;
    }
    void say(const std::string& line) const {
        if (settings.log && !line.empty()) settings.log(line);
    }
    // Once for each model.
    void say_when_it_ends(const std::string& upstream_model) {
        const std::string_view date = own_address ? shutdown_date_of(upstream_model) : std::string_view();
        if (date.empty()) return;
        {
            const std::lock_guard lock(mutex);
            if (!said.insert(upstream_model).second) return;
        }
        say("model " + upstream_model + " ends on " + std::string(date) + "; " + std::string(published_models().front()) +
            " is there to replace it");
    }

    const openai_settings settings;
    const std::optional<net::http_url> base;
    const bool own_address;
    const std::vector<std::string> models;
    std::mutex mutex;
    std::set<std::string> said;
};

asio::awaitable<result<transcript>> transcribe_at(std::shared_ptr<station> at, std::shared_ptr<const recording> audio,
                                                  transcription_request request, attempt terms) {
    if (!at->base || (at->base->tls && !at->settings.tls)) co_return error(errc::upstream_error);
    upstream_order order;
    order.base = *at->base;
    order.tls = at->settings.tls;
    order.upstream_model = at->upstream_name(request.model);
    order.callers_key = terms.key != nullptr;
    // Never both: with a caller's key, even an empty one, the operator's stays here.
    order.key = order.callers_key ? terms.key : std::shared_ptr<const secret>(at, &at->settings.credential);
    at->say_when_it_ends(order.upstream_model);
    auto end = co_await call_upstream(std::move(order), std::move(audio), std::move(request), std::move(terms));
    at->say(end.log);
    if (end.heard) end.heard->backend = at->settings.name;
    co_return std::move(end.heard);
}

class openai_backend final : public backend {
public:
    explicit openai_backend(openai_settings settings) : at_(std::make_shared<station>(std::move(settings))) {}

    std::string_view name() const noexcept override { return at_->settings.name; }
    hearonce::provider provider() const noexcept override { return provider::openai; }
    unsigned in_flight_max() const noexcept override { return at_->settings.max_in_flight; }
    std::vector<std::string> models() const override { return at_->models; }
    std::string default_model() const override { return at_->settings.default_model; }

    std::string_view shutdown_date(std::string_view model) const override {
        return at_->own_address ? shutdown_date_of(at_->upstream_name(std::string(model))) : std::string_view();
    }
    std::chrono::milliseconds time_allowed(std::optional<std::chrono::milliseconds> audio) const override {
        return at_->settings.deadline.allowed(audio);
    }
    backend_state state() const override {
        if (!at_->base) return {false, "base_url is not an http or https URL"};
        if (at_->base->tls && !at_->settings.tls) return {false, "TLS is not set up"};
        if (at_->own_address && at_->settings.credential.empty() && !at_->settings.callers_keys)
            return {false, "no key: set backends." + at_->settings.name + ".api_key_file, or OPENAI_API_KEY in the environment"};
        return {true, {}};
    }
    result<void> supports(const transcription_request& request) const override {
        return check_supported(request, at_->upstream_name(request.model));
    }

    // The coroutine is lazy and may begin when this object is gone: it gets the station and not `this`.
    asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording> audio, transcription_request request,
                                                   attempt terms) override {
        return transcribe_at(at_, std::move(audio), std::move(request), std::move(terms));
    }

private:
    std::shared_ptr<station> at_;
};

}  // namespace

std::shared_ptr<backend> create_openai_backend(openai_settings settings) {
    while (settings.base_url.ends_with('/')) settings.base_url.pop_back();
    return std::make_shared<openai_backend>(std::move(settings));
}

}  // namespace hearonce::openai
