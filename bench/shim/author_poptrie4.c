/* Poptrie in its author's C, IPv4: compiled as one file with what is called for each address. */
#include "poptrie4.c"

#include "author.h"
#include "poptrie_used.h"

static void *open_table(const struct route4 *routes, size_t count, uint32_t without, size_t *bytes) {
    struct built *built = open_empty(without);
    if (!built)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (poptrie_route_add(built->poptrie, routes[i].addr, (int)routes[i].len,
                              ANSWER(routes[i].nexthop)) < 0) {
            close_built(built);
            return NULL;
        }
    *bytes = used_bytes(built->poptrie);
    return built;
}

static uint64_t lookup(void *table, const uint32_t *addrs, size_t count, int dependent) {
    uint64_t sum = 0;
    const struct built *built = table;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        found = (uint32_t)(uintptr_t)poptrie_lookup(
            built->poptrie, dependent ? addrs[i] ^ chain(found) : addrs[i]);
        sum += found ? found : built->without;
    }
    return sum;
}

const struct author4 author_poptrie4 = {open_table, lookup, close_built};
