/* Dependent lookups: each address waits for what the table said of the one before. */
#ifndef FWDLAB_CHAIN_H
#define FWDLAB_CHAIN_H

#include <stdint.h>

/* 0, the top bit of what a lookup found. The compiler does not know that it is 0; and it is taken from
 * what the table said, before the answer for addresses without a route takes its place: that choice is
 * a branch, behind which the processor would go on without waiting for the table. */
static inline uint32_t chain(uint32_t found) {
    __asm__("" : "+r"(found));
    return found >> 31;
}

#endif
