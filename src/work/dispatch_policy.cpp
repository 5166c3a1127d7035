// The steps of one flight. Next file: dispatch_run.cpp, which takes them.
#include <work/dispatch_policy.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace hearonce::work {

namespace {

constexpr int not_asked = 0;

int telling_of(errc code) noexcept {
    switch (code) {
        case errc::rate_limit_exceeded:
        case errc::overloaded: return 3;
        case errc::insufficient_quota: return 1;
        default: return 2;
    }
}

}  // namespace

dispatch_policy::dispatch_policy(const retry_rule& rule, std::vector<deadline> limits, time_point start, unsigned spent)
    : rule_(rule), limits_(std::move(limits)), start_(start), attempts_max_(rule.attempts > spent ? rule.attempts - spent : 1) {}

dispatch_policy::step dispatch_policy::failed(const error& why, bool told, time_point now) {
    assert(begun_ && current_ < limits_.size());
    const auto allowed = told ? remedy::none : why.remedy();
    if (allowed == remedy::none) return {std::nullopt, now, why, current_};
    note(why, telling_of(why.code()));
    ++failed_here_;
    if (allowed == remedy::again) {
        if (const auto at = again_at(why, now)) return {current_, *at};
    }
    return go_on(now);
}

dispatch_policy::step dispatch_policy::refused(const error& why, time_point now) {
    assert(begun_ && current_ < limits_.size());
    note(why, not_asked);
    return go_on(now);
}

dispatch_policy::step dispatch_policy::go_on(time_point now) {
    if (begun_) ++current_;
    begun_ = true;
    failed_here_ = 0;
    while (current_ < limits_.size() && limits_[current_].passed(now)) ++current_;
    if (current_ < limits_.size()) return {current_, now};
    if (most_telling_) return {std::nullopt, now, *most_telling_, told_by_};
    return {std::nullopt, now, errc::upstream_timeout};
}

// The pause that is due, or the longer one the backend asked for; nullopt: it fits no more.
std::optional<dispatch_policy::time_point> dispatch_policy::again_at(const error& why, time_point now) const {
    if (failed_here_ >= attempts_max_) return std::nullopt;
    std::chrono::milliseconds pause{0};
    if (!rule_.pauses.empty()) pause = rule_.pauses[std::min<std::size_t>(failed_here_, rule_.pauses.size()) - 1];
    if (const auto asked = why.retry_after()) {
        // Compared as seconds: an absurd number must not overflow on its way to milliseconds.
        if (*asked > std::chrono::ceil<std::chrono::seconds>(rule_.window)) return std::nullopt;
        pause = std::max(pause, std::chrono::milliseconds(*asked));
    }
    const auto at = now + pause;
    if (at > start_ + rule_.window || limits_[current_].passed(at)) return std::nullopt;
    return at;
}

void dispatch_policy::note(const error& why, int telling) {
    if (most_telling_ && telling <= telling_) return;
    most_telling_ = why;
    telling_ = telling;
    told_by_ = current_;
}

}  // namespace hearonce::work
