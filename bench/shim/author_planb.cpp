// PlanB's linearised B+-tree in an independent C++ implementation (IPv6, prefixes up to /64).
#include "lpm6.hpp"

extern "C" {
#include "author.h"
}

#include <vector>

namespace {

// Addresses of one call of its batch lookup; its README measures with 8 and 16, which are alike here.
constexpr std::size_t LANES = 16;

struct Built {
    lpm6::Tree tree;
    std::uint32_t without;
};

void *open_table(const route6 *routes, size_t count, uint32_t without, size_t *bytes) try {
    std::vector<lpm6::Entry> entries;
    for (size_t i = 0; i < count; i++) {
        if (routes[i].len > 64)
            return nullptr;
        entries.push_back({static_cast<std::uint64_t>(routes[i].addr >> 64),
                           static_cast<int>(routes[i].len), static_cast<int>(routes[i].nexthop)});
    }
    auto *built = new Built{{}, without};
    built->tree.build(entries);
    // What the tree says, and the answers beside it, two for each prefix.
    *bytes = built->tree.total_keys() * sizeof(std::uint64_t) + 2 * count * sizeof(int);
    return built;
} catch (...) {
    return nullptr;
}

uint64_t lookup(void *table, const unsigned __int128 *, const uint64_t *upper, size_t count,
                int dependent) {
    const auto *built = static_cast<const Built *>(table);
    std::uint64_t sum = 0;
    std::uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found = static_cast<std::uint32_t>(
            built->tree.lookup(dependent ? upper[i] ^ chain(found) : upper[i]));
        sum += found ? found : built->without;
    }
    return sum;
}

uint64_t batch(void *table, const unsigned __int128 *, const uint64_t *upper, size_t count,
               size_t burst) {
    const auto *built = static_cast<const Built *>(table);
    std::uint64_t sum = 0;
    int found[LANES];
    auto add = [&](int one) { sum += one ? static_cast<std::uint32_t>(one) : built->without; };
    for (size_t start = 0; start < count; start += burst) {
        size_t end = start + burst < count ? start + burst : count;
        size_t at = start;
        for (; at + LANES <= end; at += LANES) {
            built->tree.lookup_batch<LANES>(upper + at, found);
            for (int one : found)
                add(one);
        }
        for (; at < end; at++)
            add(built->tree.lookup(upper[at]));
    }
    return sum;
}

void close_table(void *table) { delete static_cast<Built *>(table); }

}  // namespace

extern "C" const author6 author_planb;
const author6 author_planb = {open_table, lookup, batch, close_table};
