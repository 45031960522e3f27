/* The DPDK peers of the route lookup bench, behind one small interface.
 *
 * DPDK is linked and called, nothing of it is copied. Each lookup loop runs
 * here, so that a peer pays no call across languages for each address, and its
 * inline functions are inlined. Handles are struct peer pointers; functions
 * that can fail return 0 or NULL on failure.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include "chain.h"
#include "peer.h"

#define BURST_MAX 1024

#define PAGE 4096

/* DPDK is made to run on huge pages. Without them its memory is a shared file in
 * memory, which stays on small pages; so put anonymous memory with transparent
 * huge pages in its place, with what is there already: peers get what our tables
 * get. Without memory for that all stays as it was. */
static int move_to_huge_pages(const struct rte_memseg_list *list, void *unused) {
    (void)unused;
    char *base = list->base_va;
    size_t pages = list->len / PAGE, used = 0;
    unsigned char *resident = malloc(pages);
    if (!resident || mincore(base, list->len, resident) != 0) {
        free(resident);
        return 0;
    }
    for (size_t i = 0; i < pages; i++)
        used += resident[i] & 1;
    char *copy = malloc((used + 1) * PAGE), *at = copy;
    if (copy) {
        for (size_t i = 0; i < pages; i++)
            if (resident[i] & 1) {
                memcpy(at, base + i * PAGE, PAGE);
                at += PAGE;
            }
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
        if (mmap(base, list->len, PROT_READ | PROT_WRITE, flags, -1, 0) == base) {
            madvise(base, list->len, MADV_HUGEPAGE);
            at = copy;
            for (size_t i = 0; i < pages; i++)
                if (resident[i] & 1) {
                    memcpy(base + i * PAGE, at, PAGE);
                    at += PAGE;
                }
        }
    }
    free(copy);
    free(resident);
    return 0;
}

/* Starts the DPDK environment on the calling thread. `cpu` pins it; `megabytes`
 * is the memory for all peers that live at one time. */
int shim_start(unsigned cpu, unsigned megabytes) {
    char cores[24], memory[24];
    snprintf(cores, sizeof cores, "%u", cpu);
    snprintf(memory, sizeof memory, "%u", megabytes);
    char *argv[] = {"fwdlab-bench", "--no-huge", "--no-pci", "--no-telemetry",
                    "--no-shconf", "--log-level=critical",
                    "--force-max-simd-bitwidth=512", "-l", cores, "-m", memory,
                    NULL};
    if (rte_eal_init(11, argv) < 0)
        return 0;
    rte_memseg_list_walk(move_to_huge_pages, NULL);
    return 1;
}

static unsigned names;
static char *fresh_name(char *name, size_t size) {
    snprintf(name, size, "peer%u", names++);
    return name;
}

static int open_fib4(struct peer *peer, unsigned bytes_log2, unsigned routes, unsigned groups) {
    char name[24];
    struct rte_fib_conf conf = {
        .type = RTE_FIB_DIR24_8, .default_nh = peer->without, .max_routes = (int)routes,
        .dir24_8 = {.nh_sz = (enum rte_fib_dir24_8_nh_sz)bytes_log2, .num_tbl8 = groups}};
    peer->fib = rte_fib_create(fresh_name(name, sizeof name), 0, &conf);
    if (!peer->fib)
        return 0;
    peer->is_vector =
        rte_fib_select_lookup(peer->fib, RTE_FIB_LOOKUP_DIR24_8_VECTOR_AVX512) == 0;
    return 1;
}

static int open_fib6(struct peer *peer, unsigned bytes_log2, unsigned routes, unsigned groups) {
    char name[24];
    struct rte_fib6_conf conf = {
        .type = RTE_FIB6_TRIE, .default_nh = peer->without, .max_routes = (int)routes,
        .trie = {.nh_sz = (enum rte_fib_trie_nh_sz)bytes_log2, .num_tbl8 = groups}};
    peer->fib6 = rte_fib6_create(fresh_name(name, sizeof name), 0, &conf);
    if (!peer->fib6)
        return 0;
    peer->is_vector = rte_fib6_select_lookup(peer->fib6, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) == 0;
    return 1;
}

static int open_lpm(struct peer *peer, unsigned routes, unsigned groups) {
    char name[24];
    fresh_name(name, sizeof name);
    peer->is_vector = 1;
    if (peer->kind == LPM4) {
        struct rte_lpm_config conf = {.max_rules = routes, .number_tbl8s = groups};
        peer->lpm = rte_lpm_create(name, 0, &conf);
        return peer->lpm != NULL;
    }
    struct rte_lpm6_config conf = {.max_rules = routes, .number_tbl8s = groups};
    peer->lpm6 = rte_lpm6_create(name, 0, &conf);
    return peer->lpm6 != NULL;
}

/* Opens a peer; `without` is its answer where no route matches. */
struct peer *shim_open(int kind, unsigned bytes_log2, unsigned routes, unsigned groups,
                       uint32_t without) {
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->kind = (enum kind)kind;
    peer->without = without;
    int opened = kind == FIB4   ? open_fib4(peer, bytes_log2, routes, groups)
                 : kind == FIB6 ? open_fib6(peer, bytes_log2, routes, groups)
                                : open_lpm(peer, routes, groups);
    if (!opened) {
        free(peer);
        return NULL;
    }
    return peer;
}

/* Whether a peer that can use AVX-512 does. */
int shim_is_vector(const struct peer *peer) { return peer->is_vector; }

void shim_close(struct peer *peer) {
    switch (peer->kind) {
    case FIB4: rte_fib_free(peer->fib); break;
    case LPM4: rte_lpm_free(peer->lpm); break;
    case FIB6: rte_fib6_free(peer->fib6); break;
    case LPM6: rte_lpm6_free(peer->lpm6); break;
    }
    free(peer);
}

/* Adds one IPv4 route; the address is in host order. 0 on success. */
int shim_add4(struct peer *peer, uint32_t addr, uint8_t len, uint32_t nexthop) {
    return peer->kind == FIB4 ? rte_fib_add(peer->fib, addr, len, nexthop)
                              : rte_lpm_add(peer->lpm, addr, len, nexthop);
}

/* Adds one IPv6 route; the address is in network order. 0 on success. */
int shim_add6(struct peer *peer, const uint8_t *addr, uint8_t len, uint32_t nexthop) {
    uint8_t copy[16];
    memcpy(copy, addr, 16);
    return peer->kind == FIB6 ? rte_fib6_add(peer->fib6, copy, len, nexthop)
                              : rte_lpm6_add(peer->lpm6, copy, len, nexthop);
}

/* Bursts of IPv4 lookups; returns the sum of all nexthops found. */
uint64_t shim_batch4(struct peer *peer, uint32_t *addrs, unsigned n, unsigned burst) {
    uint64_t sum = 0;
    static uint64_t wide[BURST_MAX] __attribute__((aligned(64)));
    static uint32_t narrow[BURST_MAX] __attribute__((aligned(64)));
    for (unsigned i = 0; i < n; i += burst) {
        unsigned count = n - i < burst ? n - i : burst;
        if (peer->kind == FIB4) {
            rte_fib_lookup_bulk(peer->fib, addrs + i, wide, (int)count);
            for (unsigned j = 0; j < count; j++)
                sum += wide[j];
        } else {
            rte_lpm_lookup_bulk(peer->lpm, addrs + i, narrow, count);
            for (unsigned j = 0; j < count; j++)
                sum += narrow[j] & RTE_LPM_LOOKUP_SUCCESS ? narrow[j] & 0xffffff : peer->without;
        }
    }
    return sum;
}

/* Bursts of IPv6 lookups; returns the sum of all nexthops found. */
uint64_t shim_batch6(struct peer *peer, uint8_t (*addrs)[16], unsigned n, unsigned burst) {
    uint64_t sum = 0;
    static uint64_t wide[BURST_MAX] __attribute__((aligned(64)));
    static int32_t narrow[BURST_MAX] __attribute__((aligned(64)));
    for (unsigned i = 0; i < n; i += burst) {
        unsigned count = n - i < burst ? n - i : burst;
        if (peer->kind == FIB6) {
            rte_fib6_lookup_bulk(peer->fib6, addrs + i, wide, (int)count);
            for (unsigned j = 0; j < count; j++)
                sum += wide[j];
        } else {
            rte_lpm6_lookup_bulk_func(peer->lpm6, addrs + i, narrow, count);
            for (unsigned j = 0; j < count; j++)
                sum += narrow[j] < 0 ? peer->without : (uint32_t)narrow[j];
        }
    }
    return sum;
}

/* The nexthop of an address, and what the table said, for `chain`. */
static inline uint32_t one4(struct peer *peer, uint32_t addr, uint32_t *found) {
    if (peer->kind == LPM4) {
        int missed = rte_lpm_lookup(peer->lpm, addr, found);
        return missed ? peer->without : *found;
    }
    uint64_t nexthop;
    rte_fib_lookup_bulk(peer->fib, &addr, &nexthop, 1);
    return *found = (uint32_t)nexthop;
}

static inline uint32_t one6(struct peer *peer, uint8_t addr[1][16], uint32_t *found) {
    if (peer->kind == LPM6) {
        int missed = rte_lpm6_lookup(peer->lpm6, addr[0], found);
        return missed ? peer->without : *found;
    }
    uint64_t nexthop;
    rte_fib6_lookup_bulk(peer->fib6, addr, &nexthop, 1);
    return *found = (uint32_t)nexthop;
}

/* One address at a time. With `dependent` each address waits for the one before, see chain.h. */
uint64_t shim_single4(struct peer *peer, const uint32_t *addrs, unsigned n, int dependent) {
    uint64_t sum = 0;
    uint32_t found = 0;
    for (unsigned i = 0; i < n; i++)
        sum += one4(peer, dependent ? addrs[i] ^ chain(found) : addrs[i], &found);
    return sum;
}

uint64_t shim_single6(struct peer *peer, uint8_t (*addrs)[16], unsigned n, int dependent) {
    uint64_t sum = 0;
    uint32_t found = 0;
    for (unsigned i = 0; i < n; i++) {
        uint8_t addr[1][16];
        memcpy(addr, addrs[i], 16);
        if (dependent)
            addr[0][15] ^= (uint8_t)chain(found);
        sum += one6(peer, addr, &found);
    }
    return sum;
}
