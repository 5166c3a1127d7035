// Counting. Next file: ledger_json.cpp.
#include <bench/upstream/ledger.hpp>
#include <hearonce/ascii.hpp>

#include <algorithm>
#include <utility>

namespace hearonce::upstream {

const std::string* seen_request::field(std::string_view name) const noexcept {
    const auto found = std::ranges::find(fields, name, &form_field::name);
    return found == fields.end() ? nullptr : &found->value;
}

const std::string* seen_request::header(std::string_view name) const noexcept {
    const auto found = std::ranges::find_if(headers, [name](const auto& one) { return ascii::equal_in_any_case(one.name, name); });
    return found == headers.end() ? nullptr : &found->value;
}

std::int64_t ledger::since_began_ms(clock::time_point when) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(when - began_).count();
}

seen_request* ledger::find(std::uint64_t id) {
    const auto found = std::ranges::find(counts_.last.rbegin(), counts_.last.rend(), id, &seen_request::id);
    return found == counts_.last.rend() ? nullptr : &*found;
}

std::uint64_t ledger::connected() {
    const std::lock_guard lock(guard_);
    ++counts_.connections_open;
    ++counts_.connections_accepted;
    changed_.notify_all();
    return next_connection_++;
}

void ledger::disconnected() {
    const std::lock_guard lock(guard_);
    --counts_.connections_open;
    changed_.notify_all();
}

std::uint64_t ledger::began(const http::request_head& head, std::uint64_t connection, bool call) {
    seen_request seen;
    if (last_max_ > 0) {
        seen.method = head.method;
        seen.path = head.path;
        seen.query = head.query;
        seen.headers = head.headers;
    }
    seen.connection = connection;
    const std::lock_guard lock(guard_);
    seen.id = next_id_++;
    seen.at_ms = since_began_ms(clock::now());
    ++(call ? counts_.calls : counts_.other_requests);
    if (call) counts_.in_flight_max = std::max(counts_.in_flight_max, ++counts_.in_flight);
    const auto id = seen.id;
    if (last_max_ > 0) {
        if (counts_.last.size() == last_max_) counts_.last.pop_front();
        counts_.last.push_back(std::move(seen));
    }
    changed_.notify_all();
    return id;
}

void ledger::told(std::uint64_t id, std::vector<form_field> fields, std::vector<received_file> files, const sha256_digest* recording) {
    for (auto& one : fields) {
        if (one.value.size() > seen_request::value_bytes_max) one.value.resize(seen_request::value_bytes_max);
    }
    const std::lock_guard lock(guard_);
    if (id < first_id_) return;
    if (recording != nullptr) {
        const bool room = counts_.by_sha256.size() < digests_max_ || counts_.by_sha256.contains(*recording);
        ++(room ? counts_.by_sha256[*recording] : counts_.digests_left_out);
    }
    if (auto* seen = find(id)) {
        seen->fields = std::move(fields);
        seen->files = std::move(files);
    }
    changed_.notify_all();
}

void ledger::answered(std::uint64_t id, int status) {
    const std::lock_guard lock(guard_);
    if (id < first_id_) return;
    ++counts_.by_status[status];
    if (auto* seen = find(id)) seen->status = status;
    changed_.notify_all();
}

void ledger::left(std::uint64_t id, std::string_view during, clock::time_point head_came) {
    const auto now = clock::now();
    const auto after = std::chrono::duration_cast<std::chrono::milliseconds>(now - head_came).count();
    const std::lock_guard lock(guard_);
    if (id < first_id_) return;
    ++counts_.aborted_by_peer;
    if (counts_.left.size() == counts::left_max) counts_.left.pop_front();
    counts_.left.push_back({id, since_began_ms(now), after, during});
    changed_.notify_all();
}

void ledger::ended(std::uint64_t received_bytes) {
    const std::lock_guard lock(guard_);
    --counts_.in_flight;
    counts_.received_bytes += received_bytes;
    changed_.notify_all();
}

void ledger::reset() {
    const std::lock_guard lock(guard_);
    counts fresh;
    fresh.in_flight = fresh.in_flight_max = counts_.in_flight;
    fresh.connections_open = fresh.connections_accepted = counts_.connections_open;
    counts_ = std::move(fresh);
    first_id_ = next_id_;
    changed_.notify_all();
}

counts ledger::snapshot() const {
    const std::lock_guard lock(guard_);
    return counts_;
}

bool ledger::wait_until(const std::function<bool(const counts&)>& enough, std::chrono::milliseconds limit) const {
    std::unique_lock lock(guard_);
    return changed_.wait_for(lock, limit, [&] { return enough(counts_); });
}

std::string ledger::json() const {
    return json_of(snapshot());
}

}  // namespace hearonce::upstream
