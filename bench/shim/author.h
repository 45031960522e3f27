/* What a peer in its authors' own code offers to the bench. A table is built once from sorted
 * routes without a default; `without` is the answer where none of them matches. Lookups return the
 * sum of all answers; with `dependent` each address waits for the one before, see chain.h.
 */
#ifndef FWDLAB_AUTHOR_H
#define FWDLAB_AUTHOR_H

#include <stddef.h>
#include <stdint.h>

#include "chain.h"

struct route4 {
    uint32_t addr; /* host order */
    uint32_t len;
    uint32_t nexthop;
};

struct route6 {
    unsigned __int128 addr; /* host order */
    uint32_t len;
    uint32_t nexthop;
};

struct author4 {
    void *(*open)(const struct route4 *routes, size_t count, uint32_t without, size_t *bytes);
    uint64_t (*lookup)(void *table, const uint32_t *addrs, size_t count, int dependent);
    void (*close)(void *table);
};

/* `upper`: the upper halves of the addresses. */
struct author6 {
    void *(*open)(const struct route6 *routes, size_t count, uint32_t without, size_t *bytes);
    uint64_t (*lookup)(void *table, const unsigned __int128 *addrs, const uint64_t *upper,
                       size_t count, int dependent);
    uint64_t (*batch)(void *table, const unsigned __int128 *addrs, const uint64_t *upper,
                      size_t count, size_t burst);
    void (*close)(void *table);
};

#endif
