// The few functions of the settings tree. Next file: load_settings.cpp.
#include <app/settings.hpp>

#include <algorithm>

namespace hearonce::app {

const backend_settings* settings::backend(std::string_view name) const noexcept {
    const auto found = std::ranges::find(backends, name, &backend_settings::name);
    return found == backends.end() ? nullptr : &*found;
}

}  // namespace hearonce::app
