// One row in one way: a double and a gateway of its own, callers, and everything that must hold afterwards.
#include "fault_row.hpp"

namespace hearonce::test {

namespace {

const char* name_of(way how) {
    return how == way::alone ? "alone" : how == way::joined ? "joined" : "streaming";
}

upstream::settings double_settings() {
    upstream::settings how;
    how.key = operators_key;
    return how;
}

}  // namespace

row_run::row_run(const fault_table& table, const fault_row& row, way how)
    : table_(table),
      row_(row),
      how_(how),
      expected_(how == way::streaming && row.streamed ? *row.streamed : row.plain),
      model_(!row.model.empty()      ? row.model
             : how == way::streaming ? table.streaming_model
                                     : table.plain_model),
      audio_(wav(7, row.large ? large_bytes : 32000)) {}

app::settings row_run::settings_for() const {
    auto wanted = quick_settings({cloud("cloud", table_.kind, server_->url())});
    wanted.backends[0].max_in_flight = 1;
    wanted.flight.abandon_grace = 0ms;
    wanted.server.max_audio_bytes = 2 * large_bytes;
    if (row_.slow) wanted.deadline.base = slow_deadline;
    return wanted;
}

std::vector<raw_answer> row_run::answers() {
    server_->always(row_.fault);
    const auto fields = model(model_, how_ == way::streaming);
    std::vector<raw_answer> all;
    if (how_ != way::joined) {
        all.push_back(caller(gateway_->port, audio_, fields).answer());
        return all;
    }
    const std::size_t count = row_.large ? 4 : joined_callers;
    plug only(*server_, *gateway_, model_);
    plugs_ = 1;
    auto waiting = callers(count, gateway_->port, audio_, fields);
    BOOST_TEST(gateway_->wait_for_waiters(count + 1));
    only.pull();
    for (auto& one : waiting) all.push_back(one.answer());
    return all;
}

void row_run::check_stream(const raw_answer& answer) const {
    BOOST_TEST(answer.header("content-type") == "text/event-stream");
    const auto records = records_of(answer);
    BOOST_TEST_REQUIRE(!records.empty());
    const auto whole = heard_in(audio_);
    if (!expected_.in_band) {
        const auto text = expected_.stored ? whole : std::string();
        BOOST_TEST(deltas_of(answer) == text);
        BOOST_TEST(json_of(records.back()).at("text").as_string() == text);
        return;
    }
    BOOST_TEST(code_in(records.back()) == expected_.code);
    const auto told = deltas_of(answer);
    BOOST_TEST(!told.empty());
    BOOST_TEST(whole.starts_with(told));
    BOOST_TEST(whole != told);
}

void row_run::check(const raw_answer& answer) const {
    BOOST_TEST(answer.status == expected_.status, answer.body);
    BOOST_TEST(answer.header("x-hearonce-backend") == "cloud");
    BOOST_TEST(answer.body.find("<html") == std::string::npos);
    if (answer.status == 200 && how_ == way::streaming) return check_stream(answer);
    if (answer.status == 200) {
        BOOST_TEST(text_in(answer) == (expected_.stored ? heard_in(audio_) : std::string()));
        return;
    }
    BOOST_TEST(code_in(answer.body) == expected_.code);
    const bool hopeless = expected_.calls > 1 || expected_.code == "insufficient_quota";
    BOOST_TEST(answer.header("x-should-retry") == (hopeless ? "false" : ""));
    BOOST_TEST(answer.header("cache-status") == "");
}

void row_run::check_counts() {
    BOOST_TEST(gateway_->wait_idle());
    const bool quiet =
        server_->wait_until([&](const upstream::counts& seen) { return seen.in_flight == 0 && seen.connections_open == expected_.kept; });
    const auto seen = server_->seen();
    BOOST_TEST(quiet, seen.in_flight << " calls and " << seen.connections_open << " connections left");
    BOOST_TEST(seen.calls == expected_.calls + plugs_);
    BOOST_TEST(seen.of(sha256_of(audio_)) == expected_.heard);
    told_ += get(gateway_->port, "/v1/stats").body + get(gateway_->port, "/health/ready").body;
    const auto metrics = get(gateway_->port, "/metrics").body;
    told_ += metrics;
    BOOST_TEST(calls_counted(metrics, "cloud") == expected_.calls + plugs_);
}

// A failure is kept nowhere: the same upload is new work, and goes well.
void row_run::check_next_upload() {
    const bool kept = expected_.status == 200 && !expected_.in_band && expected_.stored;
    server_->always("none");
    server_->reset();
    const auto again = post(gateway_->port, transcriptions, upload(audio_, model(model_)));
    BOOST_TEST(text_in(again) == heard_in(audio_));
    BOOST_TEST(again.header("cache-status").starts_with(kept ? "hearonce; hit; ttl=" : "hearonce; fwd=miss; stored; ttl="));
    BOOST_TEST(server_->seen().calls == (kept ? 0u : 1u));
}

void row_run::run() {
    BOOST_TEST_CONTEXT(row_.fault << ", " << name_of(how_)) {
        server_.emplace(double_settings());
        log_.emplace();
        gateway_.emplace(settings_for());
        const auto began = std::chrono::steady_clock::now();
        const auto all = answers();
        const auto took = std::chrono::steady_clock::now() - began;
        if (row_.slow) BOOST_TEST((took >= slow_deadline && took < slow_deadline + 3s), took / 1ms << " ms");
        for (const auto& one : all) {
            check(one);
            BOOST_TEST(one.body == all[0].body);
            BOOST_TEST(!tells(one, "sk-secret"));
        }
        check_counts();
        check_next_upload();
        gateway_.reset();
        BOOST_TEST(server_->wait_until([](const upstream::counts& seen) { return seen.connections_open == 0; }));
        told_ += log_->text();
        BOOST_TEST(told_.find("sk-secret") == std::string::npos);
        BOOST_TEST(told_.find("exception") == std::string::npos);
        BOOST_TEST(told_.find("\"cloud\"") != std::string::npos);
    }
}

void check_row(const fault_table& table, const fault_row& row) {
    for (const auto how : {way::alone, way::joined, way::streaming}) row_run(table, row, how).run();
}

}  // namespace hearonce::test
