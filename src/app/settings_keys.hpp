// Every key an operator can set, described once: its name, how it is read and shown, what it accepts, what it means and
// whether it can change at run time. Files, variables, flags, `config show`, suggestions and the manual's table come from here.
//
// Holds: basic_key, keys(), backend_keys(), nearest_key(). Next file: load_settings.cpp (uses them).
#pragma once

#include <app/settings.hpp>
#include <app/settings_value.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hearonce::app {

// Which backends a key of backends.NAME is for.
enum class kinds : std::uint8_t { all, cloud, whisper };

// Root is settings or backend_settings; the name of the latter's keys is what follows `backends.NAME.`.
template <class Root>
struct basic_key {
    std::string_view name;
    std::string_view initial;  // Its default in words where the value alone does not say it.
    std::string_view about;
    bool live;  // A re-read of the file changes it; else only a restart does.
    kinds applies = kinds::all;
    bool secret = false;                                    // Neither its value nor a rejected one is ever printed.
    bool (*read)(Root& into, const value& from) = nullptr;  // False: not acceptable, nothing written.
    std::string (*show)(const Root& from) = nullptr;        // As TOML, secrets as ***; empty: unset.
    std::string (*accepts)() = nullptr;
};

using key = basic_key<settings>;
using backend_key = basic_key<backend_settings>;

std::span<const key> keys() noexcept;
std::span<const backend_key> backend_keys() noexcept;
const key* find_key(std::string_view name) noexcept;
const backend_key* find_backend_key(std::string_view name) noexcept;
// Of kind `kind`, does the key mean anything?
bool applies_to(const backend_key& described, backend_kind kind) noexcept;
bool valid_backend_name(std::string_view name) noexcept;

// The known key that is nearest to a mistyped one, in the same words (`backends.local.modle` → `backends.local.model`);
// nullopt when none is near enough to be meant.
std::optional<std::string> nearest_key(std::string_view mistyped);

// Steps from one word to the other: insert, remove, replace, swap neighbours. Quadratic in their lengths.
std::size_t steps_between(std::string_view a, std::string_view b);

std::string_view name_of(auth_mode mode) noexcept;
std::string_view name_of(backend_kind kind) noexcept;
std::string_view name_of(log_level level) noexcept;

}  // namespace hearonce::app
