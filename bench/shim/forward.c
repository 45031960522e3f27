/* A forwarder in DPDK's manner, the peer of the forwarding bench.
 *
 * It works as l3fwd does (bursts, prefetch, one bulk lookup a burst) on frames that lie in
 * memory, with the checks that RFC 1812 and RFC 8200 ask of a router, which l3fwd leaves out.
 * DPDK is linked and called, nothing of it is copied. Frames circulate: what is sent in one lap
 * is received in the next.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ip.h>
#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "peer.h"

#define BURST_MAX 256
#define AHEAD 32 /* frames from the one that is checked to the one that is prefetched */
#define NO_ROUTE 0 /* the answer of a table where no route matches: nexthops are numbered from 1 */
#define PORTS 2

/* What a port's queue holds: 16 bytes, as our own frame handles. */
struct frame {
    uint8_t *data;
    uint32_t len;
    uint32_t unused;
};

struct adjacency {
    uint8_t macs[12];
    uint16_t port;
    uint16_t mtu;
};

struct forwarder {
    const struct peer *table;
    unsigned burst;
    uint64_t own_mac; /* six bytes as they lie in memory */
    struct adjacency adjacencies[256];
    unsigned frames;
    struct frame *in, *out[PORTS];
    unsigned outs[PORTS];
    uint64_t drops;
};

/* Forwards by `table`, which must live longer, `burst` frames at a time. */
struct forwarder *forward_open(const struct peer *table, unsigned burst, const uint8_t *own_mac) {
    struct forwarder *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->table = table;
    f->burst = burst < BURST_MAX ? burst : BURST_MAX;
    memcpy(&f->own_mac, own_mac, 6);
    return f;
}

void forward_close(struct forwarder *f) {
    free(f->in);
    for (int i = 0; i < PORTS; i++)
        free(f->out[i]);
    free(f);
}

void forward_nexthop(struct forwarder *f, unsigned id, const uint8_t *macs, unsigned port,
                     unsigned mtu) {
    memcpy(f->adjacencies[id & 255].macs, macs, 12);
    f->adjacencies[id & 255].port = (uint16_t)port;
    f->adjacencies[id & 255].mtu = (uint16_t)mtu;
}

/* Puts frames into the input queue: `frames` of `len` bytes each, `stride` apart. */
int forward_frames(struct forwarder *f, uint8_t *base, unsigned frames, unsigned stride,
                   unsigned len) {
    if (!f->in) {
        f->in = calloc(frames + AHEAD, sizeof *f->in);
        for (int i = 0; i < PORTS; i++)
            f->out[i] = calloc(frames + AHEAD, sizeof *f->in);
        if (!f->in || !f->out[0] || !f->out[1])
            return 0;
    }
    f->frames = frames;
    for (unsigned i = 0; i < frames; i++)
        f->in[i] = (struct frame){base + (size_t)i * stride, len, 0};
    return 1;
}

static inline uint64_t word(const uint8_t *p) {
    uint64_t w;
    memcpy(&w, p, 8);
    return w;
}

static inline int ordinary4(uint32_t a) {
    uint32_t top = a >> 24;
    return (top - 1 < 223) & (top != 127) & (a >> 16 != 0xa9fe);
}

static inline int ordinary6(uint64_t upper) { return upper - 1 < 0xfe00000000000000u - 1; }

/* The checks of RFC 1812, section 5.2.2, 5.3.1 and 5.3.7, and the frame is for us. */
static inline int check4(const struct forwarder *f, const struct frame *m) {
    const struct rte_ipv4_hdr *ip = (const void *)(m->data + 14);
    uint32_t total = rte_be_to_cpu_16(ip->total_length);
    return ((word(m->data) & 0xffffffffffffu) == f->own_mac) &
           (((const uint16_t *)m->data)[6] == RTE_BE16(0x0800)) & (ip->version_ihl == 0x45) &
           (total >= 20) & (14 + total <= m->len) & (ip->time_to_live > 1) &
           ordinary4(rte_be_to_cpu_32(ip->src_addr)) & ordinary4(rte_be_to_cpu_32(ip->dst_addr)) &
           (rte_raw_cksum(ip, 20) == 0xffff);
}

/* RFC 8200, section 3; RFC 4291, section 2.5. */
static inline int check6(const struct forwarder *f, const struct frame *m) {
    const struct rte_ipv6_hdr *ip = (const void *)(m->data + 14);
    return ((word(m->data) & 0xffffffffffffu) == f->own_mac) &
           (((const uint16_t *)m->data)[6] == RTE_BE16(0x86dd)) &
           ((m->data[14] & 0xf0) == 0x60) &
           (54u + rte_be_to_cpu_16(ip->payload_len) <= m->len) & (ip->hop_limits > 1) &
           ordinary6(rte_be_to_cpu_64(word(m->data + 22))) &
           ordinary6(rte_be_to_cpu_64(word(m->data + 38)));
}

static inline void transmit(struct forwarder *f, const struct frame *m, unsigned total,
                            const struct adjacency *a) {
    if (unlikely(total > a->mtu)) {
        f->drops++;
        return;
    }
    memcpy(m->data, a->macs, 12);
    f->out[a->port][f->outs[a->port]++] = *m;
}

static inline void send4(struct forwarder *f, const struct frame *m, uint32_t nexthop) {
    struct rte_ipv4_hdr *ip = (void *)(m->data + 14);
    ip->time_to_live--;
    /* RFC 1624: the TTL is the high byte of its word. */
    uint32_t sum = ip->hdr_checksum + RTE_BE16(0x0100);
    ip->hdr_checksum = (uint16_t)(sum + (sum >= 0xffff));
    transmit(f, m, rte_be_to_cpu_16(ip->total_length), &f->adjacencies[nexthop]);
}

static inline void send6(struct forwarder *f, const struct frame *m, uint32_t nexthop) {
    struct rte_ipv6_hdr *ip = (void *)(m->data + 14);
    ip->hop_limits--;
    transmit(f, m, 40u + rte_be_to_cpu_16(ip->payload_len), &f->adjacencies[nexthop]);
}

/* `ahead`: those behind the burst are frames, too, to be prefetched. */
static __rte_always_inline void burst4(struct forwarder *f, const struct frame *in, unsigned n,
                                       const int ahead) {
    uint32_t dst[BURST_MAX] __attribute__((aligned(64)));
    uint32_t nexthops[BURST_MAX] __attribute__((aligned(64)));
    uint8_t good[BURST_MAX];
    for (unsigned i = 0; i < n; i++) {
        if (ahead)
            rte_prefetch0(in[i + AHEAD].data);
        good[i] = (uint8_t)check4(f, &in[i]);
        dst[i] = rte_be_to_cpu_32(*(const uint32_t *)(in[i].data + 30));
    }
    if (f->table->kind == FIB4) {
        uint64_t wide[BURST_MAX] __attribute__((aligned(64)));
        rte_fib_lookup_bulk(f->table->fib, dst, wide, (int)n);
        for (unsigned i = 0; i < n; i++)
            nexthops[i] = (uint32_t)wide[i];
    } else {
        rte_lpm_lookup_bulk(f->table->lpm, dst, nexthops, n);
        for (unsigned i = 0; i < n; i++)
            nexthops[i] = nexthops[i] & RTE_LPM_LOOKUP_SUCCESS ? nexthops[i] & 0xffffff : NO_ROUTE;
    }
    for (unsigned i = 0; i < n; i++) {
        if (likely(good[i] && nexthops[i] != NO_ROUTE))
            send4(f, &in[i], nexthops[i]);
        else
            f->drops++;
    }
}

static __rte_always_inline void burst6(struct forwarder *f, const struct frame *in, unsigned n,
                                       const int ahead) {
    uint8_t dst[BURST_MAX][16] __attribute__((aligned(64)));
    uint32_t nexthops[BURST_MAX];
    uint8_t good[BURST_MAX];
    for (unsigned i = 0; i < n; i++) {
        if (ahead)
            rte_prefetch0(in[i + AHEAD].data);
        good[i] = (uint8_t)check6(f, &in[i]);
        memcpy(dst[i], in[i].data + 38, 16);
    }
    if (f->table->kind == FIB6) {
        uint64_t wide[BURST_MAX] __attribute__((aligned(64)));
        rte_fib6_lookup_bulk(f->table->fib6, dst, wide, (int)n);
        for (unsigned i = 0; i < n; i++)
            nexthops[i] = (uint32_t)wide[i];
    } else {
        int32_t found[BURST_MAX];
        rte_lpm6_lookup_bulk_func(f->table->lpm6, dst, found, n);
        for (unsigned i = 0; i < n; i++)
            nexthops[i] = found[i] < 0 ? NO_ROUTE : (uint32_t)found[i];
    }
    for (unsigned i = 0; i < n; i++) {
        if (likely(good[i] && nexthops[i] != NO_ROUTE))
            send6(f, &in[i], nexthops[i]);
        else
            f->drops++;
    }
}

/* All frames `laps` times; what leaves through either port comes in again. Returns the drops. */
uint64_t forward_laps(struct forwarder *f, unsigned laps) {
    f->drops = 0;
    for (unsigned lap = 0; lap < laps; lap++) {
        f->outs[0] = f->outs[1] = 0;
        for (unsigned i = 0; i < f->frames; i += f->burst) {
            unsigned n = f->frames - i < f->burst ? f->frames - i : f->burst;
            if (f->table->kind == FIB4 || f->table->kind == LPM4)
                burst4(f, f->in + i, n, 1);
            else
                burst6(f, f->in + i, n, 1);
        }
        /* Port 1 leads back to the input; port 0 is not used by the bench. */
        struct frame *in = f->in;
        f->frames = f->outs[1];
        f->in = f->out[1];
        f->out[1] = in;
        memset(f->in + f->frames, 0, AHEAD * sizeof *in);
    }
    return f->drops;
}

/* The forwarder between two rings of 16-byte elements, until `stop`. */
static void forward_poll(struct forwarder *f, struct rte_ring *from, struct rte_ring *to,
                         const volatile int *stop) {
    struct frame in[BURST_MAX];
    while (!*stop) {
        unsigned n = rte_ring_sc_dequeue_burst_elem(from, in, sizeof *in, f->burst, NULL);
        if (n == 0)
            continue;
        for (unsigned i = 0; i < n; i++)
            rte_prefetch0(in[i].data);
        f->outs[1] = 0;
        if (f->table->kind == FIB4 || f->table->kind == LPM4)
            burst4(f, in, n, 0);
        else
            burst6(f, in, n, 0);
        for (unsigned sent = 0; sent < f->outs[1];)
            sent += rte_ring_sp_enqueue_burst_elem(to, f->out[1] + sent, sizeof *in,
                                                   f->outs[1] - sent, NULL);
    }
}

/* One end of the rings for each core. */
struct pair {
    struct rte_ring *in, *out;
    volatile int stop;
};

struct pair *pair_open(unsigned places) {
    static unsigned names;
    char name[24];
    struct pair *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    unsigned flags = RING_F_SP_ENQ | RING_F_SC_DEQ;
    snprintf(name, sizeof name, "in%u", names);
    p->in = rte_ring_create_elem(name, sizeof(struct frame), places, SOCKET_ID_ANY, flags);
    snprintf(name, sizeof name, "out%u", names++);
    p->out = rte_ring_create_elem(name, sizeof(struct frame), places, SOCKET_ID_ANY, flags);
    return p;
}

void pair_close(struct pair *p) {
    rte_ring_free(p->in);
    rte_ring_free(p->out);
    free(p);
}

/* The device's core. */
void pair_device(struct pair *p, struct forwarder *f) { forward_poll(f, p->in, p->out, &p->stop); }

void pair_stop(struct pair *p) { p->stop = 1; }

/* Puts the frames of `forward_frames` into the ring towards the device. */
void pair_fill(struct pair *p, struct forwarder *f) {
    for (unsigned i = 0; i < f->frames; i++)
        rte_ring_sp_enqueue_burst_elem(p->in, f->in + i, sizeof *f->in, 1, NULL);
}

/* The tester's core: looks at `frames` frames, makes them as they were, sends them again; returns
 * how many were not as they had to be. `macs`: 12 bytes of a forwarded frame, 12 of a fresh one. */
uint64_t pair_tester(struct pair *p, const uint8_t *macs, int is_inet, unsigned burst,
                     uint64_t frames) {
    struct frame m[BURST_MAX];
    uint64_t moved = 0, wrong = 0;
    unsigned hops = is_inet ? 22 : 21;
    while (moved < frames) {
        unsigned n = rte_ring_sc_dequeue_burst_elem(p->out, m, sizeof *m, burst, NULL);
        for (unsigned i = 0; i < n; i++)
            __builtin_prefetch(m[i].data, 1);
        for (unsigned i = 0; i < n; i++) {
            uint8_t *head = m[i].data;
            wrong += (memcmp(head, macs, 12) != 0) | (head[hops] != 254);
            memcpy(head, macs + 12, 12);
            head[hops] = 255;
            if (is_inet) {
                uint32_t sum = ((uint32_t)head[24] << 8 | head[25]) + 0xfeffu;
                sum = (sum & 0xffff) + (sum >> 16);
                head[24] = (uint8_t)(sum >> 8);
                head[25] = (uint8_t)sum;
            }
        }
        for (unsigned sent = 0; sent < n;)
            sent += rte_ring_sp_enqueue_burst_elem(p->in, m + sent, sizeof *m, n - sent, NULL);
        moved += n;
    }
    return wrong;
}
