// One row of a fault table: what the upstream does, what its callers get, how often it was asked, and the test of that.
//
// Holds: outcome, fault_row, way, check_row().
#pragma once

#include "clouds.hpp"

#include <optional>
#include <string>

namespace hearonce::test {

struct outcome {
    int status = 200;
    std::string code{};    // Of an error.
    unsigned calls = 1;    // Requests that reached the upstream,
    unsigned heard = 1;    // and those of them whose recording came whole.
    unsigned kept = 1;     // Connections open to the upstream afterwards.
    bool in_band = false;  // The error is the last record of a stream that had begun.
    bool stored = true;    // Of a success.
};

struct fault_row {
    std::string fault;
    outcome plain{};
    std::optional<outcome> streamed{};  // Absent: as plain.
    std::string model{};                // Empty: the table's own.
    bool large = false;                 // A recording that no socket buffer holds: the fault meets the upload.
    bool slow = false;                  // Ends by the flight's deadline.
};

enum class way : std::uint8_t { alone, joined, streaming };

struct fault_table {
    api kind = api::openai;
    std::string plain_model;
    std::string streaming_model;
};

inline constexpr std::size_t joined_callers = 20;
inline constexpr std::size_t large_bytes = 8UL * 1024 * 1024;
inline constexpr std::chrono::milliseconds slow_deadline{1000};

// Callers and upstream for one row in one way.
class row_run {
public:
    row_run(const fault_table& table, const fault_row& row, way how);
    void run();

private:
    app::settings settings_for() const;
    std::vector<raw_answer> answers();
    void check(const raw_answer& answer) const;
    void check_stream(const raw_answer& answer) const;
    void check_counts();
    void check_next_upload();

    const fault_table& table_;
    const fault_row& row_;
    const way how_;
    const outcome& expected_;
    const std::string model_;
    const std::string audio_;
    std::string told_;  // Everything the gateway said, to look for keys in.
    unsigned plugs_ = 0;
    std::optional<double_server> server_;
    std::optional<captured_log> log_;
    std::optional<cloud_gateway> gateway_;
};

// In all three ways.
void check_row(const fault_table& table, const fault_row& row);

}  // namespace hearonce::test
