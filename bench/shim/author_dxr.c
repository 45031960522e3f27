/* FreeBSD's DXR, in the kernel's own C: compiled as one file with the names of the kernel that it
 * asks for, and with what is called for each address. */
#include "freebsd.h"

#include "in_fib_dxr.c"

#include "author.h"

/* The routing table that the module builds from: sorted by address, then by length. */
struct rtentry {
    struct route4 route;
    int parent; /* the shortest way up: the next shorter prefix that covers this one, or -1 */
};

/* One table is built at a time; the module's functions know it by number only. */
struct built {
    struct dxr *dxr;
    struct nhop_object **nexthops;
    size_t nexthop_count;
    uint32_t without;
};
static struct rtentry *rib;
static size_t rib_count;
static struct built *building;

static uint32_t last_of(const struct route4 *route) {
    return route->len < 32 ? route->addr | 0xffffffffu >> route->len : route->addr;
}

/* The place of the first route at or behind an address. */
static size_t first_from(uint32_t addr) {
    size_t low = 0, high = rib_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rib[middle].route.addr < addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct rtentry *fib4_lookup_rt(uint32_t fibnum, struct in_addr dst, uint32_t scope, int flags,
                                      struct route_nhop_data *found) {
    (void)fibnum, (void)scope, (void)flags;
    uint32_t addr = dst.s_addr;
    int at = (int)(addr == UINT32_MAX ? rib_count : first_from(addr + 1)) - 1;
    while (at >= 0 && last_of(&rib[at].route) < addr)
        at = rib[at].parent;
    if (at < 0)
        return NULL;
    found->rnd_nhop = building->nexthops[rib[at].route.nexthop];
    return &rib[at];
}

static void rt_get_inet_prefix_plen(const struct rtentry *rt, struct in_addr *addr, uint32_t *len,
                                    uint32_t *scope) {
    addr->s_addr = rt->route.addr;
    *len = rt->route.len;
    *scope = 0;
}

static struct nhop_object *rt_get_raw_nhop(const struct rtentry *rt) {
    return building->nexthops[rt->route.nexthop];
}

static void rib_walk_from(uint32_t fibnum, int family, uint32_t flags, struct sockaddr *dst,
                          struct sockaddr *mask, int (*walk)(struct rtentry *, void *), void *arg) {
    (void)fibnum, (void)family, (void)flags, (void)mask;
    uint32_t addr = ((struct sockaddr_in *)dst)->sin_addr.s_addr;
    /* FreeBSD's tree has the longest of several prefixes with one address first. */
    for (size_t first = first_from(addr), next; first < rib_count; first = next) {
        next = first + 1;
        while (next < rib_count && rib[next].route.addr == rib[first].route.addr)
            next++;
        for (size_t at = next; at-- > first;)
            if (walk(&rib[at], arg) != 0)
                return;
    }
}

/* A nexthop object is its own number. Number 0 stands for "no route". */
static uint32_t fib_get_nhop_idx_of(struct nhop_object *nexthop) {
    return (uint32_t)(uintptr_t)nexthop;
}
uint32_t fib_get_nhop_idx(struct fib_data *fd, struct nhop_object *nexthop) {
    (void)fd;
    return fib_get_nhop_idx_of(nexthop);
}
struct nhop_object **fib_get_nhop_array(struct fib_data *fd) {
    (void)fd;
    return building->nexthops;
}
void fib_get_rtable_info(struct rib_head *rh, struct rib_rtable_info *info) {
    (void)rh;
    info->num_prefixes = (uint32_t)rib_count;
    info->num_nhops = (uint32_t)building->nexthop_count;
    info->num_nhgrp = 0;
}
struct rib_head *fib_get_rh(struct fib_data *fd) {
    (void)fd;
    return NULL;
}
void fib_printf(int level, struct fib_data *fd, const char *func, char *fmt, ...) {
    (void)level, (void)fd, (void)func, (void)fmt;
}
int fib_module_register(struct fib_lookup_module *module) {
    (void)module;
    return 0;
}
int fib_module_unregister(struct fib_lookup_module *module) {
    (void)module;
    return 0;
}
bool fib_set_datapath_ptr(struct fib_data *fd, struct fib_dp *dp) {
    (void)fd, (void)dp;
    return true;
}
void fib_set_algo_ptr(struct fib_data *fd, void *data) { (void)fd, (void)data; }
void fib_epoch_call(epoch_callback_t callback, epoch_context_t context) { callback(context); }

#undef malloc
#undef free

static void close_table(void *table) {
    struct built *built = table;
    if (built->dxr)
        fib_dxr_mod.flm_destroy_cb(built->dxr);
    free(built->nexthops);
    free(built);
}

/* Fills the routing table; 0 without memory. */
static int fill(const struct route4 *routes, size_t count) {
    rib = calloc(count ? count : 1, sizeof *rib);
    rib_count = count;
    if (!rib)
        return 0;
    for (size_t i = 0; i < count; i++) {
        int up = (int)i - 1;
        while (up >= 0 && last_of(&routes[up]) < last_of(&routes[i]))
            up = rib[up].parent;
        rib[i] = (struct rtentry){.route = routes[i], .parent = up};
    }
    return 1;
}

static void *open_table(const struct route4 *routes, size_t count, uint32_t without, size_t *bytes) {
    uint32_t highest = 0;
    for (size_t i = 0; i < count; i++)
        highest = routes[i].nexthop > highest ? routes[i].nexthop : highest;
    struct built *built = calloc(1, sizeof *built);
    if (!built)
        return NULL;
    built->without = without;
    built->nexthop_count = highest + 1;
    built->nexthops = calloc(built->nexthop_count, sizeof *built->nexthops);
    building = built;
    struct fib_dp dp = {0};
    dxr_modevent(NULL, MOD_LOAD, NULL);
    if (built->nexthops && fill(routes, count)) {
        for (uint32_t i = 1; i <= highest; i++)
            built->nexthops[i] = (struct nhop_object *)(uintptr_t)i;
        void *data = NULL;
        if (fib_dxr_mod.flm_init_cb(0, NULL, NULL, &data) == FLM_SUCCESS) {
            built->dxr = data;
            if (fib_dxr_mod.flm_dump_end_cb(data, &dp) != FLM_SUCCESS)
                dp.f = NULL;
        }
    }
    free(rib);
    rib = NULL;
    if (!dp.f) {
        close_table(built);
        return NULL;
    }
    const struct dxr_aux *aux = built->dxr->aux;
    size_t buckets = (size_t)1 << aux->d_bits;
    *bytes = sizeof(uint16_t) * buckets +
             sizeof(struct direct_entry) * (DIRECT_TBL_SIZE / buckets) * aux->all_trie_cnt +
             sizeof(struct range_entry_long) * aux->rtbl_top +
             sizeof(void *) * built->nexthop_count;
    return built;
}

/* The loop for one split of the address, so that the lookup is compiled into it. */
#define LOOKUP(D)                                                                                  \
    case D:                                                                                        \
        for (size_t i = 0; i < count; i++) {                                                       \
            struct flm_lookup_key key;                                                             \
            key.addr4.s_addr = dependent ? addrs[i] ^ chain(found) : addrs[i];                     \
            found = fib_get_nhop_idx_of(dxr_fib_lookup_##D(built->dxr, key, 0));                   \
            sum += found ? found : built->without;                                                 \
        }                                                                                          \
        return sum;

static uint64_t lookup(void *table, const uint32_t *addrs, size_t count, int dependent) {
    struct built *built = table;
    uint64_t sum = 0;
    uint32_t found = 0;
    switch (32 - built->dxr->d_shift) {
        LOOKUP(16)
        LOOKUP(15)
        LOOKUP(14)
        LOOKUP(13)
        LOOKUP(12)
        LOOKUP(11)
        LOOKUP(10)
        LOOKUP(9)
    default:
        return UINT64_MAX; /* no split that the module makes */
    }
}

const struct author4 author_dxr = {open_table, lookup, close_table};
