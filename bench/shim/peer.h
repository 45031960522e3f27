/* A table of one of DPDK's lookup libraries. */
#ifndef FWDLAB_PEER_H
#define FWDLAB_PEER_H

#include <stdint.h>

#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_lpm.h>
#include <rte_lpm6.h>

enum kind { FIB4 = 0, LPM4 = 1, FIB6 = 2, LPM6 = 3 };

struct peer {
    enum kind kind;
    uint32_t without; /* the nexthop of the default route: no peer takes /0 as a route */
    int is_vector;    /* its lookups use AVX-512, or never do */
    union {
        struct rte_fib *fib;
        struct rte_lpm *lpm;
        struct rte_fib6 *fib6;
        struct rte_lpm6 *lpm6;
    };
};

#endif
